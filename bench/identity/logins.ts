import { maxParallelHashes } from "../../server/platform/security/passwords.ts";
import type { Service } from "../../test/support/process.ts";
import { treeMicros } from "../processes.ts";
import { openGenerator, requestText, type Job } from "../load.ts";
import { median, note, verdict, type Table } from "../report.ts";
import { startRemote, type Remote } from "../rpc.ts";
import type { Scenario } from "../floor-scenario.ts";
import { withService } from "../service.ts";
import type { Argon2Calls } from "./argon2-process.ts";
import { makeAccounts, password, type Account } from "./accounts.ts";

/** More clients than concurrent hashes, so that a hash is always queued. */
const clients = 3 * maxParallelHashes;
const seconds = 2;
/** At a few dozen logins per second, JIT compilation settles after a minute. */
const warmUpSeconds = { full: 60, quick: 2 };
const target = { limit: 0.9, unit: "x", isLeast: true };

export const loginJobs = (accounts: readonly Account[]): Job[] =>
  accounts.map(({ email }) => ({
    request: requestText("POST", "/v1/gateway/login", { body: { identifier: email, password } }),
  }));

export const startArgon2 = (): Promise<Remote<Argon2Calls>> =>
  startRemote(new URL("./argon2-process.ts", import.meta.url));

interface Round {
  bare: number;
  service: number;
  p50Ms: number;
  p99Ms: number;
  /** CPU time per check, and per login in all processes of the service including its stores. */
  bareMs: number;
  serviceMs: number;
}

export const logins: Scenario = {
  about: "logins against bare argon2 with the same parameters and concurrency",
  async run({ isQuick }) {
    const bare = await startArgon2();
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
  const accounts = await makeAccounts(service.url, clients);
  const { hostname, port } = new URL(service.url);
  const generator = await openGenerator(hostname, Number(port), clients);
  const jobs = loginJobs(accounts);
  await generator.run(jobs, warmUp);
  const measured: Round[] = [];
  for (let round = 0; round < rounds; round++) {
    const given = { parallel: maxParallelHashes, seconds };
    const checks = await bare.call("flatOut", given);
    const before = treeMicros(service.pid);
    const result = await generator.run(jobs, seconds);
    const serviceMs = (treeMicros(service.pid) - before) / 1_000 / result.requests;
    if (Object.keys(result.statuses).join() !== "200") throw new Error("a login was refused");
    const { perSecond, p50Ms, p99Ms } = result;
    const { perSecond: barePerSecond, cpuMs: bareMs } = checks;
    measured.push({ bare: barePerSecond, service: perSecond, p50Ms, p99Ms, bareMs, serviceMs });
    note(`${perSecond.toFixed(1)} logins/s, ${barePerSecond.toFixed(1)} bare`);
  }
  generator.close();
  return measured;
}

function tableOf(rounds: readonly Round[]): Table {
  const of = (value: (round: Round) => number) => median(rounds.map(value));
  const rate = of(({ bare, service }) => service / bare);
  const cpu = of(({ bareMs, serviceMs }) => bareMs / serviceMs);
  return {
    title: `identity: logins, ${clients} clients, medians of ${rounds.length} interleaved rounds`,
    head: [
      "what",
      "per second",
      "p50 ms",
      "p99 ms",
      "CPU ms",
      "rate vs bare",
      "CPU vs bare",
      "target",
    ],
    rows: [
      ["bare argon2", of(({ bare }) => bare).toFixed(1), "", "", of((r) => r.bareMs).toFixed(1)],
      [
        "POST gateway/login",
        of(({ service }) => service).toFixed(1),
        of(({ p50Ms }) => p50Ms).toFixed(0),
        of(({ p99Ms }) => p99Ms).toFixed(0),
        of(({ serviceMs }) => serviceMs).toFixed(1),
        `${rate.toFixed(2)}x`,
        `${cpu.toFixed(2)}x`,
        verdict(rate, target),
      ],
    ],
  };
}
