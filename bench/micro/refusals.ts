import type { Socket } from "node:net";
import { quantile, shuffle } from "simple-statistics";
import { ask, openSocket, requestText } from "../raw-request.ts";
import { median, note, verdict, type Table } from "../report.ts";
import type { Scenario } from "../floor-scenario.ts";
import { withService } from "../service.ts";
import { makeAccounts } from "./accounts.ts";

const accountCount = 40;
const shuffles = 2_000;

/** An attacker's pair of requests: one for an existing account, one for none. */
interface Probe {
  name: string;
  path: string;
  body: (email: string) => Record<string, string>;
  status: string;
}

const probes: Probe[] = [
  {
    name: "login, wrong password",
    path: "/v1/gateway/login",
    body: (identifier) => ({ identifier, password: "not the right one" }),
    status: "401",
  },
  {
    name: "code/request",
    path: "/v1/gateway/code/request",
    body: (email) => ({ email }),
    status: "200",
  },
  {
    name: "code/verify, wrong code",
    path: "/v1/gateway/code/verify",
    body: (email) => ({ email, code: "000000" }),
    status: "401",
  },
  {
    name: "reset-password/request",
    path: "/v1/gateway/reset-password/request",
    body: (email) => ({ email }),
    status: "200",
  },
];

export const refusals: Scenario = {
  about: "responses for addresses with and without an account: difference and noise",
  run({ isQuick }) {
    const samples = isQuick ? 40 : 200;
    // High, because a lockout would respond before the password is checked, for known and unknown accounts
    // alike.
    const env = { LOCKOUT_THRESHOLD: "1000" };
    return withService(
      1,
      async (service) => {
        const emails = await makeAccounts(service.url, accountCount);
        const socket = await openSocket(service.url);
        const rows: string[][] = [];
        for (const probe of probes) rows.push(await compare(socket, probe, emails, samples));
        socket.destroy();
        return [tableOf(samples, rows)];
      },
      env,
    );
  },
};

async function compare(
  socket: Socket,
  probe: Probe,
  emails: readonly string[],
  samples: number,
): Promise<string[]> {
  const known: number[] = [];
  const unknown: number[] = [];
  const time = async (email: string) => {
    const request = requestText("POST", probe.path, { body: probe.body(email) });
    const started = performance.now();
    const { status } = await ask(socket, request);
    if (status !== probe.status) throw new Error(`${probe.path} answered ${status}`);
    return performance.now() - started;
  };
  for (let n = -10; n < samples; n++) {
    const one = emails[(n + 10) % emails.length] ?? "";
    const other = `nobody.${n + 10}@example.com`;
    // Alternates the order, so that neither kind always comes second.
    const isKnownFirst = n % 2 === 0;
    const first = await time(isKnownFirst ? one : other);
    const second = await time(isKnownFirst ? other : one);
    if (n < 0) continue;
    known.push(isKnownFirst ? first : second);
    unknown.push(isKnownFirst ? second : first);
  }
  const difference = Math.abs(median(known) - median(unknown));
  const noise = noiseOf([...known, ...unknown]);
  note(`${probe.name}: ${(difference * 1_000).toFixed(0)} us of ${(noise * 1_000).toFixed(0)} us`);
  return [
    probe.name,
    median(known).toFixed(3),
    median(unknown).toFixed(3),
    (difference * 1_000).toFixed(0),
    (noise * 1_000).toFixed(0),
    verdict(difference / noise, { limit: 1, unit: "x the noise" }),
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

function tableOf(samples: number, rows: string[][]): Table {
  return {
    title: `refusals: ${samples} samples each, sequential; noise = 95 % of random divisions`,
    head: ["what", "known, ms", "unknown, ms", "difference us", "noise us", "target"],
    rows,
  };
}
