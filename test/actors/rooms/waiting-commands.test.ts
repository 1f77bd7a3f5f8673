import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import type { Owner } from "../../../actors/cluster/owners.ts";
import type { Leases } from "../../../actors/cluster/leases.ts";
import { defaultTimings } from "../../../actors/timing.ts";
import { Signal } from "../../../actors/signal.ts";
import { maxWaiting, WaitingCommands } from "../../../actors/waiting-commands.ts";
import { Timeline, timingOf } from "../../faults/timeline.ts";

const retryMs = 20;
const owner = (name: string): Owner => ({ nodeId: name, token: `${name}|1` });

describe("commands that wait for an owner", () => {
  let timeline: Timeline;
  let waiting: WaitingCommands;
  let owners: Map<number, Owner>;
  let reads: number;
  let answersReads: boolean;
  let isOver: boolean;
  let acquired: Leases["acquired"];
  let mapLoaded: Leases["mapLoaded"];

  beforeEach(() => {
    timeline = new Timeline();
    owners = new Map();
    reads = 0;
    answersReads = true;
    isOver = false;
    acquired = new Signal();
    mapLoaded = new Signal();
    waiting = new WaitingCommands({
      timing: timingOf(timeline, { name: "w", isAlive: true, frozenUntil: 0 }),
      timings: { ...defaultTimings, retryMs },
      leases: {
        ...{ acquired, mapLoaded },
        liveOwnerOf: (shard) => owners.get(shard) ?? null,
        async reload() {
          reads += 1;
          if (!answersReads) await new Promise(() => {});
          mapLoaded.emit();
        },
      },
      isOver: () => isOver,
    });
  });

  async function run(ms: number): Promise<void> {
    const end = timeline.now + ms;
    while (timeline.step(end)) await new Promise((done) => setImmediate(done));
    timeline.now = end;
    await new Promise((done) => setImmediate(done));
  }

  /** Commands that may retry, by the shards they wait for. */
  function wait(shards: number[], deadline = 5_000): number[] {
    const released: number[] = [];
    for (const shard of shards)
      void waiting.turn(shard, deadline).then((mayAsk) => mayAsk && released.push(shard));
    return released;
  }

  it("read the owner map once for all of them, at growing intervals", async () => {
    const released = wait(Array.from({ length: 1_000 }, (_, i) => i));
    const readAfter: number[] = [];
    for (let ms = retryMs; ms <= 32 * retryMs; ms += retryMs) {
      const before = reads;
      await run(retryMs);
      if (reads > before) readAfter.push(ms / retryMs);
    }
    assert.deepEqual(readAfter, [1, 3, 7, 15, 23, 31]);
    assert.deepEqual([released.length, waiting.count], [0, 1_000]);
  });

  it("read the owner map soon again after a while without waiting commands", async () => {
    for (let n = 0; n < 2; n++) {
      const before = reads;
      wait([1]);
      await run(3 * retryMs);
      assert.equal(reads - before, 2);
      acquired.emit(1, false, []);
      await run(retryMs);
    }
  });

  it("continue at once when their shard is claimed, while the others stay", async () => {
    const released = wait([1, 2, 1]);
    acquired.emit(1, false, []);
    await run(0);
    assert.deepEqual([released, waiting.count], [[1, 1], 1]);
  });

  it("continue at once when the map shows a new owner, and later for the owner that refused", async () => {
    owners.set(1, owner("old"));
    const released = wait([1, 2]);
    owners.set(2, owner("new"));
    mapLoaded.emit();
    await run(0);
    assert.deepEqual(released, [2]);
    await run(retryMs);
    assert.deepEqual(released, [2, 1]);
  });

  it("end at their deadline, even when Redis does not answer", async () => {
    answersReads = false;
    const released = wait([1], 100);
    await run(100 - retryMs);
    assert.deepEqual(released, []);
    await run(retryMs);
    assert.deepEqual([released, reads], [[1], 1]);
  });

  it("end when waiting is stopped for all of them", async () => {
    const released = wait([1]);
    isOver = true;
    await run(retryMs);
    assert.deepEqual([released, waiting.count], [[1], 0]);
  });

  it("leave no timer behind", async () => {
    wait([1]);
    acquired.emit(1, false, []);
    await run(retryMs);
    const before = reads;
    await run(10 * retryMs);
    assert.equal(reads, before);
  });

  it("are limited in number, and one too many is refused at once", async () => {
    wait(Array.from({ length: maxWaiting }, (_, i) => i % 1_024));
    assert.equal(await waiting.turn(7, 5_000), false);
    acquired.emit(7, false, []);
    assert.equal(waiting.count, maxWaiting - maxWaiting / 1_024);
    wait([7]);
    assert.equal(waiting.count, maxWaiting - maxWaiting / 1_024 + 1);
  });
});
