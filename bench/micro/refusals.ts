import type { Socket } from "node:net";
import { quantile, shuffle } from "simple-statistics";
import { ask, openSocket, requestText } from "../raw-request.ts";
import { median, note, verdict } from "../report.ts";
import type { Scenario } from "../floor-scenario.ts";
import { withService } from "../service.ts";
import { makeAccounts } from "./accounts.ts";

const accountCount = 40;
const shuffles = 2_000;
const warmUps = 10;

/** An attacker's pair of requests: one for an existing account, one for none. */
interface Probe {
  name: string;
  path: string;
  body: (email: string) => Record<string, string>;
  status: string;
}

const probes: Probe[] = [
  {
    ...{ name: "login, wrong password", path: "login", status: "401" },
    body: (identifier) => ({ identifier, password: "not the right one" }),
  },
  { name: "code/request", path: "code/request", body: (email) => ({ email }), status: "200" },
  {
    ...{ name: "code/verify, wrong code", path: "code/verify", status: "401" },
    body: (email) => ({ email, code: "000000" }),
  },
  {
    ...{ name: "reset-password/request", path: "reset-password/request", status: "200" },
    body: (email) => ({ email }),
  },
];

export const refusals: Scenario = {
  about: "responses for addresses with and without an account: difference and noise",
  run: ({ isQuick }) =>
    withService(
      1,
      async ({ url }) => {
        const samples = isQuick ? 40 : 200;
        const emails = await makeAccounts(url, accountCount);
        const socket = await openSocket(url);
        const rows: string[][] = [];
        for (const probe of probes) rows.push(await compare(socket, probe, emails, samples));
        socket.destroy();
        return [
          {
            title: `refusals: ${samples} samples each, sequential; noise = 95 % of random divisions`,
            head: ["what", "known, ms", "unknown, ms", "difference us", "noise us", "target"],
            rows,
          },
        ];
      },
      // A lockout would respond before the password is checked, for known and unknown accounts alike.
      { LOCKOUT_THRESHOLD: "1000" },
    ),
};

async function compare(
  socket: Socket,
  { name, path, body, status: expected }: Probe,
  emails: readonly string[],
  samples: number,
): Promise<string[]> {
  const time = async (email: string) => {
    const request = requestText("POST", `/v1/gateway/${path}`, { body: body(email) });
    const started = performance.now();
    const status = await ask(socket, request);
    if (status !== expected) throw new Error(`${path} answered ${status}`);
    return performance.now() - started;
  };
  const times: Record<"known" | "unknown", number[]> = { known: [], unknown: [] };
  for (let n = 0; n < warmUps + samples; n++) {
    const pair = [
      ["known", emails[n % emails.length] ?? ""],
      ["unknown", `nobody.${n}@example.com`],
    ] as const;
    // Neither kind always comes second.
    for (const [kind, email] of n % 2 === 0 ? pair : pair.toReversed()) {
      const ms = await time(email);
      if (n >= warmUps) times[kind].push(ms);
    }
  }
  const { known, unknown } = times;
  const difference = Math.abs(median(known) - median(unknown));
  const noise = noiseOf([...known, ...unknown]);
  const micros = (ms: number) => (ms * 1_000).toFixed(0);
  note(`${name}: ${micros(difference)} us of ${micros(noise)} us`);
  return [
    ...[name, median(known).toFixed(3), median(unknown).toFixed(3), micros(difference)],
    ...[micros(noise), verdict(difference / noise, { limit: 1, unit: "x the noise" })],
  ];
}

/** Difference of medians that 95 of 100 random splits of the same samples stay below. */
function noiseOf(all: number[]): number {
  const half = all.length / 2;
  const differences = Array.from({ length: shuffles }, () => {
    const shuffled = shuffle(all);
    return Math.abs(median(shuffled.slice(0, half)) - median(shuffled.slice(half)));
  });
  return quantile(differences, 0.95);
}
