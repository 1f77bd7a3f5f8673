import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { silentLogger, type Logger } from "../../../../server/platform/log/logger.ts";
import { Drains, type DrainedWorker } from "../../../../server/runtime/boot/drains.ts";
import { eventually } from "../../../support/eventually.ts";

/** A worker that is ready until it is replaced. */
class Worker implements DrainedWorker {
  readonly index: number;
  isReady = true;
  isDraining = false;
  numReplaced = 0;
  numGivenUp = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(index: number) {
    this.index = index;
  }

  get isReplaceable(): boolean {
    return this.isReady && !this.isDraining;
  }

  announceDrain(): void {
    this.isDraining = true;
  }

  cancelDrain(): void {
    this.isDraining = false;
  }

  giveUpDrain(): void {
    this.isDraining = false;
    this.numGivenUp += 1;
  }

  replace(): void {
    this.isDraining = true;
    this.isReady = false;
    this.numReplaced += 1;
  }

  async onceReady(): Promise<void> {
    if (!this.isReady) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Its successor is ready. */
  succeed(): void {
    this.isReady = true;
    this.isDraining = false;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

function setUp({ numWorkers = 1, log = silentLogger as Logger } = {}) {
  const workers = Array.from({ length: numWorkers }, (_, i) => new Worker(i));
  /** The answers of the other instances, in order; the last one stays. */
  const answers = [true];
  const done: string[] = [];
  const drains = new Drains({
    workers: () => workers,
    log,
    delayMs: 0,
    hasSuccessor: async () => {
      done.push("asks");
      return (answers.length > 1 ? answers.shift() : answers[0]) ?? false;
    },
    leave: () => done.push("leaves"),
    return: () => done.push("returns"),
  });
  const [worker = new Worker(0), other = new Worker(1)] = workers;
  return { drains, worker, other, answers, done };
}

describe("the drain of an HTTP worker", () => {
  it("needs no other instance while another worker of its own is ready", async () => {
    const { drains, worker, other, done } = setUp({ numWorkers: 2 });
    assert.equal(await drains.drain(0), "draining");
    assert.deepEqual([worker.numReplaced, done], [1, []]);
    worker.succeed();
    other.isReady = false;
    assert.equal(await drains.drain(1), "not_ready");
    assert.equal(await drains.drain(7), "not_found");
  });

  it("of the last one tells balancers, asks again, and ends when its successor is ready", async () => {
    const { drains, worker, done } = setUp();
    assert.equal(await drains.drain(0), "draining");
    assert.deepEqual(done, ["asks", "leaves"]);
    await eventually("it is replaced", () => worker.numReplaced === 1);
    assert.deepEqual(done, ["asks", "leaves", "asks"]);
    assert.equal(drains.isLeaving, true);
    worker.succeed();
    await eventually("it is over", () => !drains.isLeaving);
    assert.deepEqual(done, ["asks", "leaves", "asks", "returns"]);
  });

  it("of the last one is refused while no other instance is ready, and changes nothing", async () => {
    const { drains, worker, answers, done } = setUp();
    answers[0] = false;
    assert.equal(await drains.drain(0), "last");
    assert.deepEqual([worker.isReplaceable, drains.isLeaving, done], [true, false, ["asks"]]);
    assert.equal(worker.numGivenUp, 0);
  });

  it("returns the worker to service if the other instance has gone before it gives up its rooms", async () => {
    const lines: string[] = [];
    const warn = ({ event, reason }: { event: string; reason: string }) =>
      lines.push(`${event} ${reason}`);
    const { drains, worker, answers, done } = setUp({ log: { ...silentLogger, warn } as Logger });
    answers.push(false);
    assert.equal(await drains.drain(0), "draining");
    await eventually("it is over", () => !drains.isLeaving);
    assert.deepEqual(done, ["asks", "leaves", "asks", "returns"]);
    assert.deepEqual([worker.numReplaced, worker.isReplaceable], [0, true]);
    assert.equal(worker.numGivenUp, 1, "operators see it among the events");
    assert.deepEqual(lines, ["worker_drain_refused last"]);
  });

  it("is dropped if the last worker ended by itself meanwhile, and ends when that is ready again", async () => {
    const { drains, worker, done } = setUp();
    assert.equal(await drains.drain(0), "draining");
    worker.isReady = false;
    worker.isDraining = false;
    await eventually("nothing is asked", () => done.length === 2);
    worker.succeed();
    await eventually("it is over", () => !drains.isLeaving);
    assert.deepEqual([worker.numReplaced, done], [0, ["asks", "leaves", "returns"]]);
  });

  it("is not begun twice, nor while the service stops", async () => {
    const { drains, worker } = setUp();
    const [first, second] = await Promise.all([drains.drain(0), drains.drain(0)]);
    assert.deepEqual([first, second], ["draining", "not_ready"]);
    await eventually("it is replaced", () => worker.numReplaced === 1);
    const stopping = setUp();
    const asked = stopping.drains.drain(0);
    stopping.drains.beginStop();
    assert.equal(await asked, "not_ready");
    assert.equal(await stopping.drains.drain(0), "not_ready");
    assert.deepEqual(stopping.done, ["asks"]);
  });

  for (const [when, turns, answers] of [
    ["an answer is fast", 0, ["draining", "last"]],
    ["answers cross each other", 1, ["last", "last"]],
  ] as const)
    it(`is never begun by both of two instances that ask each other, when ${when}`, async () => {
      const workers = [new Worker(0), new Worker(0)];
      const drains: Drains[] = workers.map(
        (worker, i) =>
          new Drains({
            workers: () => [worker],
            log: silentLogger,
            delayMs: 0,
            hasSuccessor: async () => {
              for (let turn = 0; turn < turns; turn++) await Promise.resolve();
              return drains[1 - i]?.isLeaving === false;
            },
            leave: () => undefined,
            return: () => undefined,
          }),
      );
      assert.deepEqual(await Promise.all(drains.map((one) => one.drain(0))), answers);
    });
});
