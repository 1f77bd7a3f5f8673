import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventStream } from "../../../server/sse/stream.ts";
import { Wheel } from "../../../server/sse/wheel.ts";

const tickMs = 10;
const streams = (count: number) =>
  Array.from({ length: count }, () => ({ slot: 0 }) as unknown as EventStream);

/** A wheel that notes when each stream was looked at; resolves once all of them were. */
function startWheel(count: number, perTurn: number, nextOf: (at: number) => number) {
  const looks = new Map<EventStream, number>();
  const all = Promise.withResolvers<void>();
  // The wheel itself keeps no process alive.
  const limit = setTimeout(() => all.reject(new Error(`${looks.size} were looked at`)), 30_000);
  void all.promise.finally(() => clearTimeout(limit));
  let turns = 0;
  let isSameTurn = false;
  const wheel = new Wheel(tickMs, perTurn, (stream) => {
    const now = performance.now();
    if (!isSameTurn) turns += 1;
    isSameTurn = true;
    setImmediate(() => (isSameTurn = false));
    if (!looks.has(stream)) looks.set(stream, now);
    if (looks.size === count) all.resolve();
    return nextOf(now);
  });
  return { wheel, looks, all: all.promise, turns: () => turns };
}

test("a stream is looked at when it is due, and not before", async () => {
  const many = streams(50);
  const { wheel, looks, all } = startWheel(many.length, 1_000, (now) => now + 60_000);
  const started = performance.now();
  const dueOf = new Map(many.map((stream, n) => [stream, started + 5 * n]));
  for (const [stream, at] of dueOf) wheel.add(stream, at);
  await all;
  wheel.stop();
  for (const [stream, at] of dueOf) {
    const late = (looks.get(stream) ?? 0) - at;
    assert.ok(late >= -1, `looked at ${-late} ms too early`);
  }
});

test("one that is due sooner than it was is moved, and one that is gone is left alone", async () => {
  const [moved, gone] = streams(2) as [EventStream, EventStream];
  const { wheel, looks, all } = startWheel(1, 1_000, (now) => now + 60_000);
  const soon = performance.now() + 100;
  wheel.add(gone, soon);
  wheel.add(moved, soon + 60_000);
  wheel.move(moved, soon);
  assert.equal(wheel.delete(gone), true);
  assert.equal(wheel.delete(gone), false);
  wheel.move(gone, soon);
  await all;
  assert.deepEqual([...looks.keys()], [moved]);
  assert.deepEqual(wheel.all(), [moved]);
  wheel.stop();
});

test("thousands that are due together are looked at over several turns of the event loop", async () => {
  const many = streams(1_000);
  const { wheel, all, turns } = startWheel(many.length, 100, (now) => now + 60_000);
  const at = performance.now();
  for (const stream of many) wheel.add(stream, at);
  await all;
  assert.ok(turns() >= 10, `${turns()} turns`);
  assert.equal(wheel.all().length, many.length);
  wheel.stop();
});
