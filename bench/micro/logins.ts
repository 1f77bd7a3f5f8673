import { maxParallelHashes } from "../../server/platform/security/passwords.ts";
import type { Service } from "../../test/support/process.ts";
import { openGenerator } from "../closed/generator.ts";
import { requestText } from "../raw-request.ts";
import { treeMicros } from "../processes.ts";
import { median, note, verdict, type Table } from "../report.ts";
import { startRemote, type Remote } from "../rpc.ts";
import type { Scenario } from "../floor-scenario.ts";
import { withService } from "../service.ts";
import type { Argon2Calls } from "./argon2-process.ts";
import { makeAccounts, password } from "./accounts.ts";

/** More clients than concurrent hashes, so that a hash is always queued. */
const clients = 3 * maxParallelHashes;
const seconds = 2;
/** At a few dozen logins per second, JIT compilation settles after a minute. */
const warmUpSeconds = { full: 60, quick: 2 };
const target = { limit: 0.9, unit: "x", isLeast: true };

/** Per second, and CPU time in milliseconds: of a check, and of a login in all processes of the service. */
interface Round {
  bare: { perSecond: number; cpuMs: number };
  service: { perSecond: number; cpuMs: number; p50Ms: number };
}

export const logins: Scenario = {
  about: "logins against bare argon2 with the same parameters and concurrency",
  async run({ isQuick }) {
    const bare = await startRemote<Argon2Calls>(new URL("./argon2-process.ts", import.meta.url));
    const rounds = isQuick ? 4 : 12;
    const warmUp = isQuick ? warmUpSeconds.quick : warmUpSeconds.full;
    const work = (service: Service) => measure(bare, service, rounds, warmUp);
    try {
      return [tableOf(await withService(1, work, { JOB_WORKERS: "0" }))];
    } finally {
      await bare.stop();
    }
  },
};

/** Interleaved, so that changes of the machine's speed affect both. */
async function measure(
  bare: Remote<Argon2Calls>,
  service: Service,
  rounds: number,
  warmUp: number,
): Promise<Round[]> {
  const requests = (await makeAccounts(service.url, clients)).map((identifier) =>
    requestText("POST", "/v1/gateway/login", { body: { identifier, password } }),
  );
  const generator = await openGenerator(service.url, clients);
  await generator.run({ requests, seconds: warmUp });
  const measured: Round[] = [];
  for (let round = 0; round < rounds; round++) {
    const checks = await bare.call("check", { parallel: maxParallelHashes, seconds });
    const before = treeMicros(service.pid);
    const {
      perSecond,
      p50Ms,
      statuses,
      requests: count,
    } = await generator.run({ requests, seconds });
    const cpuMs = (treeMicros(service.pid) - before) / 1_000 / count;
    if (Object.keys(statuses).join() !== "200") throw new Error("a login was refused");
    measured.push({ bare: checks, service: { perSecond, cpuMs, p50Ms } });
    note(`${perSecond.toFixed(1)} logins/s, ${checks.perSecond.toFixed(1)} bare`);
  }
  await generator.stop();
  return measured;
}

function tableOf(rounds: readonly Round[]): Table {
  const of = (value: (round: Round) => number) => median(rounds.map(value));
  const rate = of(({ bare, service }) => service.perSecond / bare.perSecond);
  const cpu = of(({ bare, service }) => bare.cpuMs / service.cpuMs);
  return {
    title: `logins: ${clients} clients, medians of ${rounds.length} interleaved rounds`,
    head: ["what", "per second", "p50 ms", "CPU ms", "rate vs bare", "CPU vs bare", "target"],
    rows: [
      [
        ...["bare argon2", of(({ bare }) => bare.perSecond).toFixed(1), ""],
        of(({ bare }) => bare.cpuMs).toFixed(1),
      ],
      [
        ...["POST gateway/login", of(({ service }) => service.perSecond).toFixed(1)],
        of(({ service }) => service.p50Ms).toFixed(0),
        of(({ service }) => service.cpuMs).toFixed(1),
        ...[`${rate.toFixed(2)}x`, `${cpu.toFixed(2)}x`, verdict(rate, target)],
      ],
    ],
  };
}
