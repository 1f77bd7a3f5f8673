import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, describe, it } from "node:test";
import { groupActions } from "../../workers/queues.ts";
import type { Jobs } from "../../workers/jobs.ts";
import { requeueActions } from "../../server/features/faults/domain/actions.ts";
import { eventually } from "../support/eventually.ts";
import { forked } from "../support/forked.ts";
import { nothing, openActions, resultOf, type ActionsApp } from "./group-actions-app.ts";

const entry = new URL("./group-actions-process.ts", import.meta.url);

describe("a running action on a group of failures", () => {
  let app: ActionsApp;
  let acting: Jobs | null = null;
  before(async () => {
    app = await openActions();
  });
  after(() => app.stop());

  const startProcess = async () => {
    const { redisUrl, databaseUrl } = app.stores;
    const child = forked(entry, [redisUrl, databaseUrl]);
    await once(child, "message");
    return child;
  };
  const end = async (child: ReturnType<typeof forked>) => {
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  };
  /** Until some jobs beyond the first ten have run again. */
  const isUnderWay = (ids: readonly string[]) =>
    eventually("more jobs than the first ten", () => {
      const again = app.runsOf(ids).filter((runs) => runs > 1).length;
      return again > 12 && again < ids.length;
    });

  it("goes on after its process was killed, and runs no job twice", async () => {
    const { group, ids } = await app.fail("smtp.refused", 120);
    app.set(ids, null);
    const child = await startProcess();
    const { id } = await app.start(group, { rate: 40 });
    await isUnderWay(ids);
    await end(child);
    const done = app.runsOf(ids).filter((runs) => runs > 1).length;
    assert.ok(done < 120, "it was killed before its end");
    acting = await app.act();
    const expected = { ...nothing, jobs: 120, succeeded: 120 };
    assert.deepEqual(resultOf(await app.ended(group, id)), expected);
    assert.deepEqual(new Set(app.runsOf(ids)), new Set([2]));
    await acting.close();
  });

  it("changes nothing more when its frozen process wakes up after another one went on", async () => {
    const { group, ids } = await app.fail("smtp.frozen", 120);
    // They fail anew, so that a doubled retry would find them failed.
    app.set(ids, "smtp.anew");
    const child = await startProcess();
    const { id } = await app.start(group, { rate: 40 });
    await isUnderWay(ids);
    child.kill("SIGSTOP");
    acting = await app.act();
    await app.ended(group, id);
    child.kill("SIGCONT");
    await eventually("no job of actions is left", async () => {
      const counts = await (await app.named(groupActions.name)).getJobCounts("active", "waiting");
      return counts["active"] === 0 && counts["waiting"] === 0;
    });
    assert.deepEqual(new Set(app.runsOf(ids)), new Set([2]));
    await end(child);
    await acting.close();
  });

  it("is handed to another process at once when its own stops for a deploy", async () => {
    const { group, ids } = await app.fail("smtp.deploy", 120);
    app.set(ids, null);
    const before = await app.act();
    const { id } = await app.start(group, { rate: 40 });
    await isUnderWay(ids);
    await before.close();
    const queue = await app.named(groupActions.name);
    assert.equal((await queue.getJobCounts("waiting"))["waiting"], 1);
    acting = await app.act();
    const expected = { ...nothing, jobs: 120, succeeded: 120 };
    assert.deepEqual(resultOf(await app.ended(group, id)), expected);
    assert.deepEqual(new Set(app.runsOf(ids)), new Set([2]));
    await acting.close();
  });

  it("stops when it is cancelled; the other jobs stay failed", async () => {
    const { group, ids } = await app.fail("smtp.cancelled", 200);
    app.set(ids, null);
    acting = await app.act();
    const { id } = await app.start(group, { rate: 20 });
    await isUnderWay(ids);
    assert.equal((await app.service.cancel(group, id)).state, "running");
    const row = await app.ended(group, id);
    assert.equal(row.state, "cancelled");
    const left = 200 - row.numSucceeded - row.numWaiting;
    assert.ok(left > 0);
    await eventually("the end of the retried jobs", async () => {
      return app.runsOf(ids).filter((runs) => runs === 1).length === left;
    });
    assert.equal((await app.store.find(group))?.numJobs, left);
    await acting.close();
  });

  it("reports its progress to its row and to its job", async () => {
    const { group, ids } = await app.fail("smtp.progress", 80);
    app.set(ids, null);
    acting = await app.act();
    const { id } = await app.start(group, { rate: 20 });
    const queue = await app.named(groupActions.name);
    await eventually("progress", async () => {
      const job = await queue.getJob(`action-${id}`);
      const progress = job?.progress as { phase?: string; done?: number; total?: number };
      const row = await app.service.find(group, id);
      return progress.phase === "retry" && (progress.done ?? 0) > 10 && row.numSucceeded > 10;
    });
    await app.service.cancel(group, id);
    await app.ended(group, id);
    await acting.close();
  });
});

describe("actions on groups of failures and other queues", () => {
  let app: ActionsApp;
  before(async () => {
    app = await openActions();
    await app.act();
  });
  after(() => app.stop());

  it("run while the queue of their jobs is paused, and end with those that still wait", async () => {
    const { group, ids } = await app.fail("smtp.paused", 40);
    app.set(ids, null);
    const queue = await app.named("mail");
    await queue.pause();
    const { id } = await app.start(group);
    const expected = { ...nothing, jobs: 40, waiting: 40 };
    assert.deepEqual(resultOf(await app.ended(group, id)), expected);
    assert.deepEqual(new Set(app.runsOf(ids)), new Set([1]));
    await queue.resume();
    await eventually("all have run", () => app.runsOf(ids).every((runs) => runs === 2));
  });

  it("run one at a time over all processes", async () => {
    const others = await app.act();
    const first = await app.fail("smtp.one", 60);
    const second = await app.fail("smtp.two", 3, "credential-requests");
    app.set([...first.ids, ...second.ids], null);
    const one = await app.start(first.group, { rate: 40 });
    const two = await app.start(second.group);
    const rows = [await app.ended(first.group, one.id), await app.ended(second.group, two.id)];
    const [before, later] = rows.map((row) => [
      row.startedAt?.getTime() ?? 0,
      row.endedAt?.getTime() ?? 0,
    ]);
    assert.ok((later?.[0] ?? 0) >= (before?.[1] ?? Infinity), JSON.stringify([before, later]));
    await others.close();
  });

  it("are queued again when their job was lost", async () => {
    const queue = await app.named(groupActions.name);
    const { group, ids } = await app.fail("smtp.lost", 4);
    app.set(ids, null);
    await queue.pause();
    const { id } = await app.start(group);
    await (await queue.getJob(`action-${id}`))?.remove();
    const enqueue = app.queues.enqueue.bind(app.queues);
    const requeue = () => requeueActions({ em: app.orm.em.fork(), enqueue });
    await requeue();
    await requeue();
    await queue.resume();
    const expected = { ...nothing, jobs: 4, succeeded: 4 };
    assert.deepEqual(resultOf(await app.ended(group, id)), expected);
    assert.deepEqual(app.runsOf(ids), [2, 2, 2, 2]);
  });
});
