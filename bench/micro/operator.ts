import { setTimeout as sleep } from "node:timers/promises";
import { Queue, Worker } from "bullmq";
import { createFaultStore } from "../../server/features/faults/domain/fault-store.ts";
import { maxWaiting } from "../../server/platform/batch-writer.ts";
import { Fault } from "../../server/platform/faults/fault.ts";
import { groupOccurrences, type TimedOccurrence } from "../../server/platform/faults/batch.ts";
import { createInstance } from "../../server/platform/instance.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { noOrigin } from "../../server/platform/origin.ts";
import { connectRedis, redisReady } from "../../server/platform/redis/redis.ts";
import { serviceVersion } from "../../server/platform/version.ts";
import { systemClock } from "../../server/platform/time/clock.ts";
import type { Service } from "../../test/support/process.ts";
import { newPlayer } from "../../test/support/player.ts";
import { avatarModeration, mail, queuePrefixOf, questionGeneration } from "../../workers/queues.ts";
import { treeMicros } from "../processes.ts";
import { percentileOrMax } from "../load/histogram.ts";
import { makeLobbies } from "../rooms/games.ts";
import { note, verdict, type Table } from "../report.ts";
import type { Scenario } from "../floor-scenario.ts";
import { withService } from "../service.ts";
import { timeInTurns } from "./in-turns.ts";

interface Sizes {
  failedJobs: number;
  groups: number;
  rooms: number;
  /** Requests of each page. */
  reads: number;
  /** Seconds for which the overview is open, and for which it is not. */
  seconds: number;
}

const usual: Sizes = { failedJobs: 100_000, groups: 500, rooms: 5_000, reads: 200, seconds: 60 };
const quick: Sizes = { failedJobs: 5_000, groups: 50, rooms: 200, reads: 20, seconds: 20 };

/** How often an open overview asks for itself. */
const refreshMs = 10_000;
/** The garbage of what was made before is collected by then. */
const settleMs = 30_000;
const failingQueues = [mail, questionGeneration, avatarModeration];
const addedAtOnce = 1_000;
const failingAtOnce = 200;

export const operator: Scenario = {
  about: "pages of a service with many failed jobs, groups and rooms; an open overview; memory",
  run: ({ isQuick }) =>
    // The failing jobs of this bench are the only ones: no job worker of the service takes them.
    withService(1, (service) => measure(service, isQuick ? quick : usual), { JOB_WORKERS: "0" }),
};

async function measure(service: Service, sizes: Sizes): Promise<Table[]> {
  const redis = connectRedis(service.redisUrl, silentLogger, "bench");
  await redisReady(redis);
  try {
    const before = await usedMemory(redis);
    await failJobs(redis, sizes);
    const groups = await recordFaults(redis, sizes);
    note(`${sizes.failedJobs} failed jobs in ${sizes.groups} groups`);
    const lobbies = await makeLobbies(service.url, sizes.rooms, { mode: "coop" });
    note(`${sizes.rooms} rooms`);
    const player = await newPlayer(service.url, "Ada");
    const rows = await timePages(service, sizes, [
      "/operator",
      "/operator/failures",
      `/operator/failures/${groups.at(-1) ?? ""}`,
      "/operator/queues",
      "/operator/queues/mail",
      "/operator/queues/mail/jobs?state=failed",
      "/operator/jobs/mail/failing-0",
      "/operator/rooms",
      "/operator/rooms/lobby",
      `/operator/rooms/lobby/${lobbies[0]?.code ?? ""}`,
      "/operator/workers",
      `/operator/players/${player.accountId}`,
      "/operator/audit",
    ]);
    const overview = await openOverview(service, sizes);
    return [
      {
        title: `operator: ${sizes.failedJobs} failed jobs, ${sizes.groups} groups, ${sizes.rooms} rooms; ${sizes.reads} reads a page, in turns`,
        head: ["page", "p50 ms", "p95 ms", "kB", "target p95"],
        rows,
      },
      overview,
      await memoryTable(redis, before),
    ];
  } finally {
    redis.disconnect();
  }
}

type Redis = ReturnType<typeof connectRedis>;

const usedMemory = async (redis: Redis) =>
  Number(/used_memory:(\d+)/.exec(await redis.info("memory"))?.[1] ?? 0);

/** Jobs that failed for good, by the library itself. */
async function failJobs(redis: Redis, { failedJobs }: Sizes): Promise<void> {
  const prefix = queuePrefixOf(redis);
  const share = Math.ceil(failedJobs / failingQueues.length);
  for (const { name } of failingQueues) {
    const connection = redis.duplicate({ maxRetriesPerRequest: null });
    const queue = new Queue(name, { connection, prefix });
    for (let at = 0; at < share; at += addedAtOnce)
      await queue.addBulk(
        Array.from({ length: Math.min(addedAtOnce, share - at) }, (_, n) => ({
          name,
          data: { messageId: at + n, round: 0 },
          opts: { jobId: `failing-${at + n}`, attempts: 1, removeOnFail: false },
        })),
      );
    await new Promise<void>((resolve) => {
      let count = 0;
      const fail = () => Promise.reject(new Error("connect ECONNREFUSED 10.0.0.5:25"));
      const worker = new Worker(name, fail, { connection, prefix, concurrency: failingAtOnce });
      worker.on("failed", () => ++count === share && void worker.close().then(resolve));
    });
    await queue.close();
    connection.disconnect();
  }
}

/** The groups of these jobs, written in batches as a process writes them; the ids of the groups. */
async function recordFaults(redis: Redis, { failedJobs, groups }: Sizes): Promise<string[]> {
  const store = createFaultStore(redis, systemClock);
  const instance = createInstance({ role: "jobs", index: 0, version: serviceVersion });
  const share = Math.ceil(failedJobs / failingQueues.length);
  const ids = new Set<string>();
  for (let at = 0, seq = 1; at < failedJobs; at += maxWaiting, seq++) {
    const occurrences = Array.from({ length: Math.min(maxWaiting, failedJobs - at) }, (_, n) =>
      occurrenceOf(at + n, share, groups),
    );
    const grouped = groupOccurrences(occurrences, instance);
    for (const { id } of grouped) ids.add(id);
    await store.write({ instance: instance.id, seq, numDropped: 0, groups: grouped });
  }
  return [...ids];
}

function occurrenceOf(at: number, share: number, groups: number): TimedOccurrence {
  const queue = failingQueues[Math.floor(at / share)]?.name ?? mail.name;
  // A group is of one queue; together they are as many as are kept.
  const peer = `mail-${at % Math.floor(groups / failingQueues.length)}.example:25`;
  return {
    kind: "job",
    place: queue,
    error: new Fault("smtp.refused", { peer, status: 451, text: "try again later" }),
    origin: { ...noOrigin, playerId: at % 10_000 },
    job: { queue, id: `failing-${at % share}`, attempt: 1, isFinal: true },
    atMs: systemClock.now(),
  };
}

async function timePages(service: Service, { reads }: Sizes, paths: string[]) {
  const sizes = new Map<string, number>();
  const works = paths.map((path) => [path, async () => sizes.set(path, await read(service, path))]);
  const measured = await timeInTurns(Object.fromEntries(works), { warmUps: 1, rounds: reads });
  return [...measured].map(([path, summary]) => {
    const p95 = percentileOrMax(summary, 95);
    return [
      path.replace(/[^/]{17,}$|[A-Z0-9]{6}$/, "…"),
      ...[percentileOrMax(summary, 50), p95].map((ms) => ms.toFixed(1)),
      ((sizes.get(path) ?? 0) / 1_024).toFixed(0),
      verdict(p95, { limit: 300, unit: " ms" }),
    ];
  });
}

/** Resolves to the length of the page. */
async function read(service: Service, path: string): Promise<number> {
  const headers = { accept: "text/html", authorization: `Bearer ${service.operatorToken}` };
  const answer = await fetch(`${service.operatorUrl}${path}`, { headers });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${text.slice(0, 200)}`);
  return text.length;
}

/** Processor time of all processes while one browser has the overview open, and without it. */
async function openOverview(service: Service, { seconds }: Sizes): Promise<Table> {
  const millisPerSecond = async (isOpen: boolean) => {
    const startedAt = performance.now();
    const before = treeMicros(service.pid);
    while (performance.now() - startedAt < seconds * 1_000) {
      if (isOpen) await read(service, "/operator");
      await sleep(refreshMs);
    }
    const micros = treeMicros(service.pid) - before;
    return micros / 1_000 / ((performance.now() - startedAt) / 1_000);
  };
  await sleep(settleMs);
  const idle = await millisPerSecond(false);
  const open = await millisPerSecond(true);
  return {
    title: `operator: an open overview, read every ${refreshMs / 1_000} s, for ${seconds} s`,
    head: ["idle ms/s", "open ms/s", "more", "target"],
    rows: [
      [
        ...[idle, open, open - idle].map((value) => value.toFixed(1)),
        verdict(open - idle, { limit: 10, unit: " ms/s" }),
      ],
    ],
  };
}

async function keysLike(redis: Redis, pattern: string): Promise<string[]> {
  const found: string[] = [];
  let cursor = "0";
  do {
    const [next, keys] = await redis.scan(cursor, "MATCH", pattern, "COUNT", 1_000);
    found.push(...keys);
    cursor = next;
  } while (cursor !== "0");
  return found;
}

async function memoryTable(redis: Redis, before: number): Promise<Table> {
  const patterns = [`${queuePrefixOf(redis)}:faults:*`, `${queuePrefixOf(redis)}:times:*`];
  let [bytes, numKeys] = [0, 0];
  for (const pattern of patterns)
    for (const key of await keysLike(redis, pattern)) {
      numKeys++;
      // Every element counts, as `SAMPLES 0` asks.
      bytes += Number(await redis.memory("USAGE", key, "SAMPLES", 0));
    }
  const mib = (value: number) => (value / 1_048_576).toFixed(1);
  return {
    title: "operator: memory of Redis",
    head: ["what", "keys", "MiB", "target"],
    rows: [
      [
        patterns.join(" "),
        String(numKeys),
        mib(bytes),
        verdict(bytes / 1_048_576, { limit: 64, unit: " MiB" }),
      ],
      ["all that was added, jobs included", "", mib((await usedMemory(redis)) - before), ""],
    ],
  };
}
