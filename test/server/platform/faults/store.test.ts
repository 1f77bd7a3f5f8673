import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { groupOccurrences, periodMs } from "../../../../server/platform/faults/batch.ts";
import { usualBounds } from "../../../../server/platform/faults/store.ts";
import { failedJob, instance, openFaults, startedAt } from "./stored-faults.ts";

type Opened = Awaited<ReturnType<typeof openFaults>>;

/** Without the hashes of owners, whose number depends on the names of jobs. */
const numOthers = (keys: readonly string[]) =>
  keys.filter((key) => !key.includes(":owners:")).length;

describe("the store of faults", () => {
  let faults: Opened;
  beforeEach(async () => {
    faults = await openFaults({ ...usualBounds, maxGroups: 4, maxJobs: 6 });
  });
  afterEach(() => faults.stop());
  const list = async () => (await faults.store.list()).groups;
  const only = async () => {
    const [group] = await list();
    return group ?? assert.fail("no group");
  };

  it("has when a group was first and last seen, which a retry keeps", async () => {
    await faults.write(failedJob("a", 10), failedJob("b", 20));
    await faults.write(failedJob("a", 30));
    const { firstMs, lastMs, total, key } = await only();
    assert.deepEqual([firstMs, lastMs, total], [startedAt + 10_000, startedAt + 30_000, 3]);
    assert.deepEqual([key.code, key.peer, key.status], ["smtp.refused", "mail.example:25", 550]);
  });

  it("counts exactly the jobs that are listed as failed now", async () => {
    await faults.write(failedJob("a", 1), failedJob("b", 2), failedJob("c", 3, { isFinal: false }));
    await faults.listFailed("mail", "a", "b", "c", "other");
    assert.equal((await only()).numJobs, 2);
    await faults.redis.zrem("jobs:mail:failed", "a");
    assert.equal((await only()).numJobs, 1);
  });

  it("has in a list that is read again what changed since the last one", async () => {
    const { redis } = faults;
    const figures = async () => {
      const { total, numJobs, periods } = await only();
      return [total, numJobs, periods.at(-1)];
    };
    await faults.write(failedJob("a", 1), failedJob("b", 2));
    await faults.listFailed("mail", "a", "b");
    assert.deepEqual(await figures(), [2, 2, 2]);
    await faults.write(failedJob("c", 1));
    assert.deepEqual(await figures(), [3, 2, 3]);
    // As many jobs are listed as failed, but others.
    await redis.zrem("jobs:mail:failed", "a", "b");
    await redis.zadd("jobs:mail:failed", startedAt + 3_000, "c", startedAt + 4_000, "other");
    assert.deepEqual(await figures(), [3, 1, 3]);
    faults.clock.at = startedAt + periodMs;
    assert.deepEqual(await figures(), [3, 1, 0]);
    await redis.del(...(await redis.keys("jobs:faults:*")));
    assert.deepEqual(await list(), []);
    await faults.write(failedJob("c", 300), failedJob("d", 300), failedJob("e", 300));
    assert.deepEqual(await figures(), [3, 1, 3]);
  });

  it("tells whether jobs failed again for the cause of their group, once that is recorded", async () => {
    await faults.write(failedJob("a", 1), failedJob("b", 2));
    const { id } = await only();
    const again = (...seconds: [number, number]) =>
      faults.store.failAlike(
        id,
        "mail",
        ["a", "b"].map((job, at) => ({
          id: job,
          failedAtMs: startedAt + 1_000 * (seconds[at] ?? 0),
        })),
      );
    assert.equal(await again(1, 2), true);
    assert.equal(await again(11, 12), null);
    await faults.write(failedJob("a", 11), failedJob("b", 12));
    assert.equal(await again(11, 12), true);
    await faults.write(failedJob("b", 13, { code: "smtp.timeout" }));
    assert.equal(await again(11, 13), false);
  });

  it("moves a job that fails anew under another cause, also when batches arrive late", async () => {
    await faults.write(failedJob("a", 1), failedJob("b", 2));
    await faults.write(failedJob("a", 5, { code: "smtp.timeout" }));
    await faults.write(failedJob("a", 3));
    await faults.listFailed("mail", "a", "b");
    const jobs = (await list()).map(({ key, numJobs }) => [key.code, numJobs]);
    assert.deepEqual(jobs, [
      ["smtp.timeout", 1],
      ["smtp.refused", 1],
    ]);
  });

  it("counts occurrences in periods of five minutes, for a day", async () => {
    await faults.write(failedJob("a", 0), failedJob("b", 1), failedJob("c", 301));
    faults.clock.at = startedAt + 302_000;
    const counts = async () => (await only()).periods;
    const now = await counts();
    assert.equal(now.length, 288);
    assert.deepEqual(now.slice(-3), [0, 2, 1]);
    faults.clock.at = startedAt + 286 * periodMs;
    assert.deepEqual((await counts()).slice(0, 3), [0, 2, 1]);
    faults.clock.at = startedAt + 289 * periodMs;
    assert.equal(Math.max(...(await counts())), 0);
    await faults.write(failedJob("d", 289 * 300));
    assert.deepEqual((await counts()).slice(-2), [0, 1]);
  });

  it("counts players once each", async () => {
    const by = (playerId: number) => ({
      ...failedJob("a", 1),
      origin: { requestId: "r", playerId, room: null },
    });
    await faults.write(by(1), by(2), by(1));
    await faults.write(by(2), by(3));
    assert.equal((await only()).numPlayers, 3);
  });

  it("has the latest occurrence as an example, with its origin, job and process", async () => {
    const origin = { requestId: "request-77", playerId: 7, room: "lobby ABC234" };
    await faults.write({ ...failedJob("a", 2), origin }, failedJob("b", 1));
    const { example } = await only();
    assert.equal(example?.text, "smtp.refused 550 at mail.example:25: no");
    assert.match(example.stack, /failedJob \(test\/server\/platform\/faults/);
    const { requestId, playerId, room, job } = example;
    assert.deepEqual({ requestId, playerId, room }, origin);
    assert.deepEqual(job, { queue: "mail", id: "a", attempt: 1 });
    assert.equal(example.process, `jobs-0@${instance.id}`);
  });

  it("counts a batch once that is written again, because its answer was lost", async () => {
    const groups = groupOccurrences([failedJob("a", 1)], instance);
    for (const seq of [1, 1, 2])
      await faults.store.write({ instance: "i", seq, numDropped: 3, groups });
    assert.equal((await only()).total, 2);
    assert.equal((await faults.store.list()).numDropped, 6);
  });

  it("evicts the groups not seen for longest, with their jobs, and says so", async () => {
    const codes = ["a.a", "a.b", "a.c", "a.d", "a.e", "a.f"] as const;
    for (const [at, code] of codes.entries()) await faults.write(failedJob(code, at, { code }));
    const { groups, groupsFromMs } = await faults.store.list();
    assert.deepEqual(
      groups.map(({ key }) => key.code),
      ["a.f", "a.e", "a.d", "a.c"],
    );
    assert.equal(groupsFromMs, startedAt + 1_000);
    assert.equal(await faults.numOwned(), 4);
    assert.equal(numOthers(await faults.redis.keys("jobs:faults:*")), 4 * 3 + 3);
  });

  it("evicts the jobs that failed first, over all groups, and says from when on it knows them", async () => {
    const [one, two] = ["a.a", "a.b"] as const;
    const jobs = [1, 2, 3, 4, 5, 6].map((n) => failedJob(`j${n}`, n, { code: n % 2 ? one : two }));
    await faults.write(...jobs);
    await faults.write(
      failedJob("j7", 7, { code: one }),
      failedJob("j8", 8, { code: one }),
      failedJob("j9", 9, { code: one }),
    );
    await faults.listFailed("mail", ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => `j${n}`));
    const { groups, jobsFromMs } = await faults.store.list();
    assert.deepEqual(
      groups.map(({ key, numJobs }) => [key.code, numJobs]),
      [
        [one, 4],
        [two, 2],
      ],
    );
    assert.equal(jobsFromMs, startedAt + 5_000);
    assert.equal(await faults.numOwned(), 6);
  });

  it("drops a group four weeks after its last occurrence", async () => {
    await faults.write(failedJob("a", 0, { code: "a.a" }));
    faults.clock.at += usualBounds.keptMs + 1_000;
    await faults.write(failedJob("b", usualBounds.keptMs / 1_000 + 1, { code: "a.b" }));
    assert.deepEqual(
      (await list()).map(({ key }) => key.code),
      ["a.b"],
    );
  });
});

describe("a list of many groups", () => {
  let faults: Opened;
  before(async () => {
    faults = await openFaults();
  });
  after(() => faults.stop());

  it("has all of them with their figures, the one that failed last first", async () => {
    const codes = Array.from({ length: 60 }, (_, at) => `smtp.code${at}` as const);
    await faults.write(...codes.map((code, at) => failedJob(`job-${at}`, at, { code })));
    await faults.listFailed("mail", "job-0", "job-59");
    faults.clock.at = startedAt + 60_000;
    const { groups } = await faults.store.list();
    assert.deepEqual(
      groups.map(({ key }) => key.code),
      codes.toReversed(),
    );
    assert.deepEqual([groups[0]?.numJobs, groups[1]?.numJobs, groups[59]?.numJobs], [1, 0, 1]);
    assert.ok(groups.every(({ periods, example }) => periods.at(-1) === 1 && example !== null));
  });
});
