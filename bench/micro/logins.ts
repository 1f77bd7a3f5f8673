import argon2 from "argon2";
import { maxParallelHashes, passwordParameters } from "../../server/platform/security/passwords.ts";
import { withClosedLoad } from "../closed/measure.ts";
import type { Scenario } from "../floor-scenario.ts";
import { treeMicros } from "../processes.ts";
import { requestText } from "../raw-request.ts";
import { median, note, verdict, type Table } from "../report.ts";
import { withService } from "../service.ts";
import { makeAccounts, password } from "./accounts.ts";

/** More clients than concurrent hashes, so that a hash is always queued. */
const clients = 3 * maxParallelHashes;
const seconds = 2;

interface Rate {
  perSecond: number;
  /** Processor time of each, in all processes of the service. */
  cpuMs: number;
}

export const logins: Scenario = {
  about: "logins against bare argon2 with the same parameters and concurrency",
  run: ({ isQuick }) =>
    withService(
      1,
      async (service) => {
        const hash = await argon2.hash(password, passwordParameters);
        const requests = (await makeAccounts(service.url, clients)).map((identifier) =>
          requestText("POST", "/v1/gateway/login", { body: { identifier, password } }),
        );
        const urls = requests.map(() => service.url);
        return withClosedLoad(urls, async (run) => {
          // At a few dozen logins per second, JIT compilation settles after a minute.
          await run({ requests, seconds: isQuick ? 2 : 60 });
          const rounds: [bare: Rate, service: Rate][] = [];
          while (rounds.length < (isQuick ? 4 : 12)) {
            const bare = await rateOf(process.pid, () => check(hash));
            const logged = await rateOf(service.pid, async () => {
              const { requests: count, statuses } = await run({ requests, seconds });
              if (statuses["200"] !== count) throw new Error("a login was refused");
              return count;
            });
            rounds.push([bare, logged]);
            note(`${logged.perSecond.toFixed(1)} logins/s, ${bare.perSecond.toFixed(1)} bare`);
          }
          return [tableOf(rounds)];
        });
      },
      { JOB_WORKERS: "0" },
    ),
};

async function rateOf(pid: number, work: () => Promise<number>): Promise<Rate> {
  const [startedAt, before] = [performance.now(), treeMicros(pid)];
  const count = await work();
  const perSecond = (count * 1_000) / (performance.now() - startedAt);
  return { perSecond, cpuMs: (treeMicros(pid) - before) / 1_000 / count };
}

/** The upper bound: password checks only, with the concurrency of the service. */
async function check(hash: string): Promise<number> {
  const end = performance.now() + seconds * 1_000;
  let count = 0;
  const lane = async () => {
    for (; performance.now() < end; count++) await argon2.verify(hash, password);
  };
  await Promise.all(Array.from({ length: maxParallelHashes }, lane));
  return count;
}

function tableOf(rounds: readonly [bare: Rate, service: Rate][]): Table {
  const of = (value: (bare: Rate, service: Rate) => number) =>
    median(rounds.map(([bare, service]) => value(bare, service)));
  const rate = of((bare, service) => service.perSecond / bare.perSecond);
  const cpu = of((bare, service) => bare.cpuMs / service.cpuMs);
  const row = (name: string, pick: (bare: Rate, service: Rate) => Rate) => [
    ...[name, of((...both) => pick(...both).perSecond).toFixed(1)],
    of((...both) => pick(...both).cpuMs).toFixed(1),
  ];
  const target = { limit: 0.9, unit: "x", isLeast: true };
  return {
    title: `logins: ${clients} clients, medians of ${rounds.length} interleaved rounds`,
    head: ["what", "per second", "CPU ms", "rate vs bare", "CPU vs bare", "target"],
    rows: [
      row("bare argon2", (bare) => bare),
      row("POST gateway/login", (_, service) => service).concat(
        `${rate.toFixed(2)}x`,
        `${cpu.toFixed(2)}x`,
        verdict(rate, target),
      ),
    ],
  };
}
