import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { AppError, type ErrorCode } from "../../server/platform/errors.ts";
import { startAction } from "../../server/features/faults/domain/actions.ts";
import { trialJobs } from "../../server/features/faults/domain/action-bounds.ts";
import { systemClock } from "../../server/platform/time/clock.ts";
import type { Jobs } from "../../workers/jobs.ts";
import { eventually } from "../support/eventually.ts";
import { nothing, openActions, reason, resultOf, type ActionsApp } from "./group-actions-app.ts";

const refused = (code: ErrorCode) => (error: unknown) =>
  error instanceof AppError && error.code === code;

describe("an action on a group of failures", () => {
  let app: ActionsApp;
  before(async () => {
    app = await openActions();
    await app.act();
  });
  after(() => app.stop());

  const retry = async (group: string, options?: { kind?: "retry" | "remove"; rate?: number }) =>
    resultOf(await app.ended(group, (await app.start(group, options)).id));
  const failedNow = async (queue: string) =>
    (await (await app.named(queue)).getJobCounts("failed"))["failed"];

  it("runs exactly the jobs of its group, each once", async () => {
    const first = await app.fail("smtp.refused", 31);
    const second = await app.fail("smtp.timeout", 5);
    const third = await app.fail("smtp.unreachable", 4, "credential-requests");
    app.set([...first.ids, ...second.ids, ...third.ids], null);
    assert.deepEqual(await retry(first.group), { ...nothing, jobs: 31, succeeded: 31 });
    assert.deepEqual(new Set(app.runsOf(first.ids)), new Set([2]));
    assert.deepEqual(new Set(app.runsOf([...second.ids, ...third.ids])), new Set([1]));
    assert.deepEqual([await failedNow("mail"), await failedNow("credential-requests")], [5, 4]);
    assert.equal((await app.store.find(first.group))?.numJobs, 0);
    await retry(second.group);
    assert.deepEqual(await retry(third.group), { ...nothing, jobs: 4, succeeded: 4 });
  });

  it("stops after the first ten if they all fail for the same cause", async () => {
    const { group, ids } = await app.fail("smtp.tls", 25);
    const expected = { ...nothing, state: "stopped", jobs: 25, failedAgain: trialJobs };
    assert.deepEqual(await retry(group), expected);
    assert.equal(app.runsOf(ids).filter((runs) => runs === 2).length, trialJobs);
    assert.equal((await app.store.find(group))?.numJobs, 25, "they are all failed still");
  });

  it("goes on if the first ten fail for another cause", async () => {
    const { group, ids } = await app.fail("smtp.deferred", 15);
    app.set(ids, "smtp.full");
    assert.deepEqual(await retry(group), { ...nothing, jobs: 15, failedAgain: 15 });
    assert.deepEqual(new Set(app.runsOf(ids)), new Set([2]));
    // Their last failures are recorded in the next batch.
    const moved = async () => (await app.store.find(group))?.numJobs === 0;
    await eventually("they belong to the other group", moved);
  });

  it("goes on if one of the first ten succeeds, and counts those that fail again", async () => {
    const { group, ids } = await app.fail("smtp.greylisted", 30);
    const [lucky] = await (await app.named("mail")).getFailed(29, 29);
    app.set([lucky?.id ?? "", ...ids.slice(-1)], null);
    const result = await retry(group);
    assert.equal(result.state, "done");
    assert.equal(result.succeeded + result.failedAgain, 30);
    assert.deepEqual(new Set(app.runsOf(ids)), new Set([2]));
  });

  it("of ten jobs or fewer has no others to stop for", async () => {
    const { group } = await app.fail("smtp.closed", 3);
    assert.deepEqual(await retry(group), { ...nothing, jobs: 3, failedAgain: 3 });
  });

  it("removes the jobs of its group, and no other", async () => {
    const kept = await app.fail("smtp.kept", 2);
    const { group, ids } = await app.fail("smtp.unwanted", 230);
    assert.deepEqual(await retry(group, { kind: "remove" }), {
      ...nothing,
      jobs: 230,
      removed: 230,
    });
    const queue = await app.named("mail");
    const left = await Promise.all(ids.map((id) => queue.getJob(id)));
    assert.ok(left.every((job) => job === undefined));
    assert.equal((await app.store.find(kept.group))?.numJobs, 2);
    assert.deepEqual(new Set(app.runsOf(ids)), new Set([1]));
  });

  it("is refused for a group without failed jobs, and for an unknown one", async () => {
    const { group, ids } = await app.fail("smtp.once", 1);
    app.set(ids, null);
    await retry(group);
    await assert.rejects(app.start(group), refused("failure:no_jobs"));
    await assert.rejects(app.service.preview(group), refused("failure:no_jobs"));
    await assert.rejects(app.start("1-0000000000000000"), refused("failure:not_found"));
  });

  it("tells before what it would take", async () => {
    const before = Date.now();
    const { group } = await app.fail("smtp.preview", 4);
    const { numJobs, numLeftOut, oldestMs } = await app.service.preview(group);
    assert.deepEqual([numJobs, numLeftOut], [4, 0]);
    assert.ok(oldestMs !== null && oldestMs >= before - 1_000 && oldestMs <= Date.now());
    assert.equal(await app.redis.exists(`jobs:faults:preview:${group}:todo`), 0);
  });

  it("leaves nothing in Redis, and its row says who decided what and when", async () => {
    const { group, ids } = await app.fail("smtp.row", 2);
    app.set(ids, null);
    const { id } = await app.start(group, { rate: 7 });
    const row = await app.ended(group, id);
    assert.deepEqual(
      [row.kind, row.place, row.operator, row.reason, row.rate],
      ["retry", "mail", "olga", reason, 7],
    );
    assert.ok(row.startedAt && row.endedAt && row.startedAt >= row.createdAt);
    assert.deepEqual(await app.redis.keys("jobs:faults:action:*"), []);
    const [listed] = (await app.service.list(group)) ?? [];
    assert.equal(listed?.id, id);
  });
});

describe("an action that waits for its turn", () => {
  let app: ActionsApp;
  let acting: Jobs | null = null;
  before(async () => {
    app = await openActions();
  });
  after(() => app.stop());

  it("takes the jobs that had failed when it was decided, and skips those that changed", async () => {
    const { group, ids } = await app.fail("smtp.refused", 6);
    const { id } = await app.start(group);
    // Somebody else retries two of them: one succeeds, one fails anew. A further job fails later.
    const queue = await app.named("mail");
    const [good = "", bad = ""] = ids;
    app.set([good], null);
    for (const each of [good, bad]) await (await queue.getJob(each))?.retry("failed");
    const later = await app.fail("smtp.later", 1);
    app.set(ids, null);
    acting = await app.act();
    const expected = { ...nothing, jobs: 6, succeeded: 4, skipped: 2 };
    assert.deepEqual(resultOf(await app.ended(group, id)), expected);
    assert.deepEqual(app.runsOf(ids), [2, 2, 2, 2, 2, 2]);
    assert.deepEqual(app.runsOf(later.ids), [1]);
    await acting.close();
  });

  it("is the only one of its group, and ends when it is cancelled", async () => {
    const { group, ids } = await app.fail("smtp.timeout", 3);
    const { id } = await app.start(group);
    await assert.rejects(app.start(group), refused("failure:action_open"));
    await assert.rejects(app.start(group, { kind: "remove" }), refused("failure:action_open"));
    const cancelled = await app.service.cancel(group, id);
    assert.equal(cancelled.state, "cancelled");
    await assert.rejects(app.service.cancel(group, id), refused("failure:action_ended"));
    assert.deepEqual(new Set(app.runsOf(ids)), new Set([1]));
    const again = await app.start(group);
    await app.service.cancel(group, again.id);
    const unknown = app.service.find("1-0000000000000000", id);
    await assert.rejects(unknown, refused("failure:action_not_found"));
  });

  it("takes no more jobs than the open ones leave room for", async () => {
    const first = await app.fail("smtp.first", 8);
    const second = await app.fail("smtp.second", 5);
    const deps = {
      ...{ store: app.store, clock: systemClock, redis: app.redis, maxJobs: 10 },
      ...{ em: async () => app.orm.em.fork(), enqueue: app.queues.enqueue.bind(app.queues) },
      cancelJob: async () => false,
    };
    const given = {
      kind: "retry",
      rate: 1_000,
      reason,
      by: "olga",
      requestId: "request-1",
    } as const;
    const one = await startAction(deps, first.group, given);
    const two = await startAction(deps, second.group, given);
    assert.deepEqual([one.numJobs, one.numLeftOut], [8, 0]);
    assert.deepEqual([two.numJobs, two.numLeftOut], [2, 3]);
    const third = await app.fail("smtp.third", 1);
    await assert.rejects(startAction(deps, third.group, given), refused("failure:actions_full"));
    app.set([...first.ids, ...second.ids], null);
    acting = await app.act();
    assert.equal((await app.ended(first.group, one.id)).numSucceeded, 8);
    assert.equal((await app.ended(second.group, two.id)).numSucceeded, 2);
    assert.equal((await app.store.find(second.group))?.numJobs, 3);
    await acting.close();
  });

  it("is refused while Postgres is away, and changes nothing", async () => {
    const { group, ids } = await app.fail("smtp.away", 2);
    app.setAway(true);
    await assert.rejects(app.start(group));
    assert.equal(await app.service.list(group), null);
    app.setAway(false);
    assert.deepEqual(await app.redis.keys("jobs:faults:action:*"), []);
    assert.deepEqual(app.runsOf(ids), [1, 1]);
    assert.deepEqual(await app.service.list(group), []);
  });

  it("fails when Redis has lost its jobs", async () => {
    const { group } = await app.fail("smtp.lost", 2);
    const { id } = await app.start(group);
    await app.redis.unlink(...(await app.redis.keys("jobs:faults:action:*")));
    acting = await app.act();
    assert.equal((await app.ended(group, id)).state, "failed");
    assert.equal((await app.store.find(group))?.numJobs, 2);
    await acting.close();
  });
});
