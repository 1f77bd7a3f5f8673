import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import type { Redis } from "ioredis";
import { lobbyKeyspace } from "../../../actors/lobby/keys.ts";
import { keptOwners } from "../../../actors/cluster/owner-history.ts";
import { maxSnapshotJobs } from "../../../server/features/faults/domain/action-bounds.ts";
import { ActionJournal } from "../../../server/features/faults/domain/action-journal.ts";
import { AlertMemory } from "../../../server/features/faults/domain/alert-memory.ts";
import { createRequestStore } from "../../../server/features/requests/domain/request-store.ts";
import { maxSeatsInList, seatListOf } from "../../../server/features/rooms/domain/recent-seats.ts";
import { maxWaiting } from "../../../server/platform/batch-writer.ts";
import type { GroupedOccurrences } from "../../../server/platform/faults/batch.ts";
import { numPeriods, usualBounds } from "../../../server/platform/faults/store.ts";
import { numBuckets } from "../../../server/platform/job-times/histogram.ts";
import { minuteMs, type Cell, type Retry } from "../../../server/platform/job-times/recorder.ts";
import { keptPeriods, maxDues } from "../../../server/platform/job-times/store.ts";
import type { RequestEntry } from "../../../server/platform/requests/entries.ts";
import { usualBounds as requestBounds } from "../../../server/platform/requests/store.ts";
import { createJobTimes } from "../../../workers/job-times.ts";
import { allQueues } from "../../../workers/queues.ts";
import { openFaults, startedAt } from "../platform/faults/stored-faults.ts";
import { failed, failedIn, queuedJob } from "../platform/requests/kept-requests.ts";

type Opened = Awaited<ReturnType<typeof openFaults>>;

const mebibyte = 1024 * 1024;
const place = "question-generation";
const groupId = (at: number) => `1-${at.toString(16).padStart(16, "0")}`;
/** As long as the ids of the jobs that generate questions, the longest ones. */
const jobId = (n: number) =>
  `generate-general_knowledge-medium-both-1a2b3c4-${String(n).padStart(22, "0")}`;
/** Each store takes some more than it keeps, as in a bad night. */
const excess = 1.05;
let seq = 0;

/** Groups with words, an example and counts of the greatest size, and so many players that their sketch is full. */
async function fillFaults({ store, redis }: Opened): Promise<void> {
  const { maxGroups, maxJobs } = usualBounds;
  const perGroup = Math.ceil((excess * maxJobs) / maxGroups);
  const groupOf = (at: number, jobs: [string, number][]): GroupedOccurrences => ({
    ...{ id: groupId(at), place, firstMs: startedAt, lastMs: startedAt + at },
    key: JSON.stringify({ place, text: "w".repeat(400) }),
    total: jobs.length,
    periods: Array.from({ length: numPeriods }, (_, period) => [period, 1]),
    players: Array.from({ length: 1_000 }, (_, player) => at * 1_000 + player),
    ...{ jobs, requestIds: [], example: "e".repeat(1_900) },
  });
  for (let at = 0; at < excess * maxGroups; at++) {
    const jobs = Array.from({ length: perGroup }, (_, n): [string, number] => [
      jobId(at * perGroup + n),
      startedAt + at * perGroup + n,
    ]);
    const batch = { instance: "i", seq: ++seq, numDropped: 0 };
    await store.write({ ...batch, groups: [groupOf(at, jobs)] });
  }
  const groups = await redis.zrange("jobs:faults:groups", "0", "-1");
  const players = Array.from({ length: 10_000 }, (_, player) => String(player));
  for (const id of groups) await redis.pfadd(`jobs:faults:players:${id}`, ...players);
  assert.equal(groups.length, maxGroups);
}

async function fillRequests({ redis, clock }: Opened): Promise<void> {
  const store = createRequestStore(redis, clock);
  const write = (entries: RequestEntry[]) =>
    store.write({ instance: "i", seq: ++seq, numDropped: 0, entries });
  for (let from = 0; from < excess * requestBounds.maxEntries; from += maxWaiting) {
    const numbers = Array.from({ length: maxWaiting }, (_, n) => from + n);
    const idOf = (n: number) => `0f8fad5b-d9cb-469f-a165-${String(n).padStart(12, "0")}`;
    await write(numbers.map((n) => failed(idOf(n), n)));
    await write(numbers.map((n) => queuedJob(idOf(n), n, `message-${n}-0`)));
    await write(numbers.map((n) => failedIn(idOf(n), groupId(n))));
  }
}

/** Every bucket in every minute and hour of every queue. */
async function fillTimes({ redis, clock }: Opened): Promise<void> {
  const times = createJobTimes(redis, clock);
  const cellOf = (minute: number, count: number): Cell => {
    const counts = [0, ...Array.from({ length: numBuckets }, () => count)];
    return [minute, numBuckets * count, count, count, counts, counts];
  };
  const write = (cells: Cell[], retries: Retry[] = [], queues = allQueues) =>
    times.write({
      ...{ instance: "i", seq: ++seq, numDropped: 0 },
      queues: queues.map(({ name }) => ({ name, cells, retries })),
    });
  const first = startedAt / minuteMs;
  const last = first + keptPeriods.hours * 60;
  for (let at = first; at < last; at += 60) await write([cellOf(at, 10_000)]);
  for (let at = last; at < last + keptPeriods.minutes; at += 60)
    await write(Array.from({ length: 60 }, (_, n) => cellOf(at + n, 100)));
  for (let n = 0; n < excess * maxDues; n += maxWaiting) {
    const retries = Array.from({ length: maxWaiting }, (_, i): Retry => [jobId(n + i), startedAt]);
    await write([], retries, allQueues.slice(0, 1));
  }
}

/** Half of the jobs of an action wait, the others have been retried. */
async function fillActions({ redis }: Opened): Promise<void> {
  const all = Array.from({ length: maxSnapshotJobs }, (_, n) => [startedAt + n, jobId(n)]).flat();
  await redis.zadd("jobs:faults:jobs:filled", ...all);
  await redis.zadd(`jobs:${place}:failed`, ...all);
  const journal = new ActionJournal(redis, 1);
  const { numJobs } = await journal.take("filled", place, maxSnapshotJobs);
  assert.equal(numJobs, maxSnapshotJobs);
  await journal.claim((await journal.next(maxSnapshotJobs / 2)).map(({ id }) => id));
  await redis.del("jobs:faults:jobs:filled", `jobs:${place}:failed`);
}

async function fillAlerts({ redis }: Opened): Promise<void> {
  const memory = new AlertMemory(redis);
  await memory.begin(startedAt);
  for (let at = 0; at < usualBounds.maxGroups; at++)
    await memory.add(groupId(at), String(startedAt));
}

/** Written as `rememberSeat` does, in fewer calls. */
async function fillSeats({ redis }: Opened): Promise<void> {
  const numLists = new Set(Array.from({ length: 100_000 }, (_, id) => seatListOf(id))).size;
  for (let from = 0; from < numLists; from += 64) {
    const batch = redis.pipeline();
    for (let id = from; id < from + 64; id++) {
      const seats = Array.from({ length: maxSeatsInList }, (_, n) =>
        [10_000_000 + id, "lobby", "ABC234", 10_000_000 + n, startedAt].join(" "),
      );
      batch.lpush(seatListOf(id), ...seats);
    }
    await batch.exec();
  }
}

/** As the script writes them that claims a shard. */
async function fillOwners({ redis }: Opened): Promise<void> {
  for (let shard = 0; shard < 1_024; shard++) {
    const token = `${"a".repeat(24)}|${shard}`;
    const owner = [startedAt, "rebalanced", "http-10@abcdefghijkl", token].join(" ");
    const owners = Array.from({ length: keptOwners }, () => owner);
    await redis.lpush(lobbyKeyspace.owners(shard), ...owners);
  }
}

/** Rows of the table of OPS-92: what it says, the keys, and how they are filled. */
const parts: readonly [
  name: string,
  patterns: string[],
  fill: (opened: Opened) => Promise<void>,
][] = [
  [
    "groups of failures, with 100,000 failed jobs",
    ["group:*", "groups", "jobs:*", "owners:*", "periods:*", "players:*", "meta"].map(
      (name) => `jobs:faults:${name}`,
    ),
    fillFaults,
  ],
  ["requests, their jobs and failures", ["jobs:faults:requests:*"], fillRequests],
  ["times of jobs", ["jobs:times:*"], fillTimes],
  ["jobs of open actions", ["jobs:faults:action:*"], fillActions],
  ["announced failures", ["jobs:faults:announced*"], fillAlerts],
  ["seats of players", ["room-seats:*"], fillSeats],
  ["owners of a kind of room", [lobbyKeyspace.owners(0).replace("0", "*")], fillOwners],
];

/** Name -> MiB, of the table in the decisions. */
function sharesIn(markdown: string): Map<string, number> {
  const [, section = ""] = markdown.split("### OPS-92");
  const rows = section.split("\n###")[0]?.matchAll(/^\| ([^|]+?) +\| +([\d.]+) +\|/gm) ?? [];
  return new Map([...rows].map(([, name = "", share]) => [name, Number(share)]));
}

async function bytesOf(redis: Redis, patterns: readonly string[]): Promise<number> {
  const keys = (await Promise.all(patterns.map((pattern) => redis.keys(pattern)))).flat();
  const sizes = await Promise.all(
    keys.map((key) => redis.memory("USAGE", key, "SAMPLES", 0) as Promise<number>),
  );
  return sizes.reduce((sum, size) => sum + Number(size), 0);
}

describe("what operators see of failures, jobs and rooms", () => {
  let opened: Opened;
  before(async () => {
    opened = await openFaults();
  });
  after(() => opened.stop());

  it("takes less than 64 MiB of Redis with all bounds reached at once, each part its share", async (t) => {
    const shares = sharesIn(readFileSync("server/decisions/operations.md", "utf8"));
    assert.deepEqual(
      [...shares.keys()],
      parts.map(([name]) => name),
    );
    const given = [...shares.values()].reduce((sum, share) => sum + share, 0);
    assert.ok(given < 64, `the table gives ${given} MiB`);
    for (const [, , fill] of parts) await fill(opened);
    for (const [name, patterns] of parts) {
      const used = (await bytesOf(opened.redis, patterns)) / mebibyte;
      t.diagnostic(`${name}: ${used.toFixed(2)} MiB`);
      assert.ok(used <= (shares.get(name) ?? 0), `${name}: ${used.toFixed(2)} MiB`);
      assert.ok(used > 0.001, `${name} is empty`);
    }
    const total = (await bytesOf(opened.redis, ["*"])) / mebibyte;
    t.diagnostic(`all keys: ${total.toFixed(2)} MiB`);
    assert.ok(total < 64, `${total.toFixed(2)} MiB`);
  });
});
