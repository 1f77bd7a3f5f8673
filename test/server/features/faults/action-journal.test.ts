import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { maxSnapshotJobs } from "../../../../server/features/faults/domain/action-bounds.ts";
import { ActionJournal } from "../../../../server/features/faults/domain/action-journal.ts";
import { openFaults, startedAt } from "../../platform/faults/stored-faults.ts";

/** Bytes of Redis for the jobs of all open actions. */
const budget = 20 * 1024 * 1024;
const group = "1-0123456789abcdef";
const numOver = 10;
/** As long as the ids of the jobs that generate questions. */
const idOf = (number: number) =>
  `generate-general_knowledge-medium-both-1a2b3c4-${String(number).padStart(22, "0")}`;

describe("the jobs of an action at their bound", () => {
  let faults: Awaited<ReturnType<typeof openFaults>>;
  let journal: ActionJournal;
  before(async () => {
    faults = await openFaults();
    journal = new ActionJournal(faults.redis, 7);
    for (let from = 0; from < maxSnapshotJobs + numOver; from += 10_000) {
      const count = Math.min(10_000, maxSnapshotJobs + numOver - from);
      const numbers = Array.from({ length: count }, (_, at) => from + at);
      const jobs = numbers.flatMap((number) => [startedAt + number, idOf(number)]);
      await faults.redis.zadd(`jobs:faults:jobs:${group}`, ...jobs);
      await faults.redis.zadd("jobs:mail:failed", ...jobs);
    }
  });
  after(() => faults.stop());

  it("are those that failed first, and the others are counted", async () => {
    const taken = await journal.take(group, "mail", maxSnapshotJobs);
    const expected = { numJobs: maxSnapshotJobs, numLeftOut: numOver, oldestMs: startedAt };
    assert.deepEqual(taken, expected);
    assert.deepEqual(await journal.next(1), [{ id: idOf(0), failedAtMs: startedAt }]);
    assert.equal(await faults.redis.zscore("jobs:faults:action:7:todo", idOf(100_000)), null);
  });

  it("take at most 20 MiB, expire, and leave nothing when they are forgotten", async () => {
    const keys = await faults.redis.keys("jobs:faults:action:*");
    let bytes = 0;
    for (const key of keys) {
      bytes += Number(await faults.redis.memory("USAGE", key, "SAMPLES", 0));
      assert.ok((await faults.redis.pttl(key)) > 0, key);
    }
    assert.ok(bytes <= budget, `${(bytes / 1024 / 1024).toFixed(1)} MiB`);
    await journal.forget();
    assert.deepEqual(await faults.redis.keys("jobs:faults:action:*"), []);
  });

  it("are claimed and counted once, whoever else claims them", async () => {
    await journal.take(group, "mail", 3);
    const other = new ActionJournal(faults.redis, 7);
    const ids = [idOf(0), idOf(1)];
    const claims = await Promise.all([journal.claim(ids), other.claim(ids)]);
    assert.equal(claims[0].size + claims[1].size, 2);
    await Promise.all([
      journal.settle("tried", "succeeded", ids),
      other.settle("tried", "succeeded", ids),
    ]);
    const { numSucceeded, numWaiting, numLeft } = await journal.counts();
    assert.deepEqual([numSucceeded, numWaiting, numLeft], [2, 0, 1]);
  });
});
