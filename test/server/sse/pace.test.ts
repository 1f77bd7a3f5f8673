import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { coalesceMs, debtAfter, ReadPace, restAfterSlice } from "../../../server/sse/pace.ts";

const most = 50;

test("an idle process writes at its next turn", () => {
  assert.equal(coalesceMs({ debtMs: 0, lagMs: 0 }, most), 0);
  assert.equal(coalesceMs({ debtMs: 5, lagMs: 5 }, most), 0);
});

test("debt is followed by a pause in proportion, a late turn by one as well", () => {
  assert.equal(coalesceMs({ debtMs: 8, lagMs: 0 }, most), 24);
  assert.equal(coalesceMs({ debtMs: 0, lagMs: 25 }, most), 20);
  assert.equal(coalesceMs({ debtMs: 8, lagMs: 25 }, most), 44);
});

/**
 * Flushes of this cost, one every `everyMs` or, after a pause, when it is over; the pauses. The process
 * is idle for half of the time, or for more.
 */
function pausesOf(costMs: number, everyMs: number, isBusy = true): number[] {
  let debtMs = 0;
  let pauseMs = 0;
  return Array.from({ length: 500 }, () => {
    const elapsedMs = Math.max(everyMs, costMs + pauseMs);
    debtMs = debtAfter(debtMs, { costMs, elapsedMs, idleShare: isBusy ? 0.5 : 0.6 }, most);
    pauseMs = coalesceMs({ debtMs, lagMs: 0 }, most);
    return pauseMs;
  });
}

test("flushes that take less than an eighth of a busy process' time are never put off", () => {
  assert.ok(pausesOf(1, 8.1).every((pause) => pause === 0));
});

test("flushes of a process that is mostly idle are not put off before they take half of the time", () => {
  assert.ok(pausesOf(1, 2.1, false).every((pause) => pause === 0));
});

test("flushes without end take an eighth of the time", () => {
  const pauses = pausesOf(4, 0).slice(-100);
  const mean = pauses.reduce((sum, one) => sum + one, 0) / pauses.length;
  assert.ok(Math.abs(mean - 28) < 0.5, `they pause for ${mean} ms on average`);
});

test("no pressure makes messages wait longer than the bound, and more never makes them wait less", () => {
  const ms = fc.double({ min: 0, max: 1e6, noNaN: true });
  fc.assert(
    fc.property(ms, ms, ms, ms, (owedMs, costMs, lagMs, more) => {
      const pauseAfter = (cost: number, lag: number) => {
        const debtMs = debtAfter(owedMs, { costMs: cost, elapsedMs: cost, idleShare: 0 }, most);
        return coalesceMs({ debtMs, lagMs: lag }, most);
      };
      const pause = pauseAfter(costMs, lagMs);
      assert.ok(pause >= 0 && pause <= most);
      assert.ok(pauseAfter(costMs + more, lagMs) >= pause);
      assert.ok(pauseAfter(costMs, lagMs + more) >= pause);
    }),
  );
});

test("one flush that takes long is forgotten after the longest pause", () => {
  const debtMs = debtAfter(0, { costMs: 1e6, elapsedMs: 1e6, idleShare: 0 }, most);
  assert.equal(coalesceMs({ debtMs, lagMs: 0 }, most), most);
  const later = debtAfter(debtMs, { costMs: 0, elapsedMs: most, idleShare: 0 }, most);
  assert.equal(coalesceMs({ debtMs: later, lagMs: 0 }, most), 0);
});

test("a slice of a broadcast is a quarter of the time until the next one", () => {
  for (const costMs of [0.1, 1, 20])
    assert.equal(costMs / (costMs + restAfterSlice(costMs)), 1 / 4);
});

/** Pauses between reads while messages come evenly, one each `everyMs`, for a second after silence. */
function readPausesOf(everyMs: number): number[] {
  const pace = new ReadPace(0);
  const pauses: number[] = [];
  let now = 10_000;
  for (let unread = now; now < 11_000;) {
    now = Math.max(now, unread);
    for (; unread <= now; unread += everyMs) pace.heard();
    pauses.push(pace.pauseMs(now));
    now += pauses.at(-1) ?? 0;
  }
  return pauses;
}

test("messages that come now and then are read as they come", () => {
  assert.ok(readPausesOf(2.1).every((pause) => pause === 0));
});

test("a thousand messages a second are read about six at a time", () => {
  const pauses = readPausesOf(1);
  assert.equal(pauses[0], 0, "the first one after silence waits for nobody");
  const mean = pauses.slice(-50).reduce((sum, one) => sum + one, 0) / 50;
  assert.ok(mean > 4.5 && mean <= 6, `${mean} ms`);
});

test("reading waits the less the more there is to read, and never longer than six milliseconds", () => {
  fc.assert(
    fc.property(fc.double({ min: 0.01, max: 5, noNaN: true }), (everyMs) => {
      const pauses = readPausesOf(everyMs);
      assert.ok(pauses.every((pause) => pause >= 0 && pause <= 6));
      if (everyMs < 0.1) assert.ok(pauses.slice(-50).every((pause) => pause < 1));
    }),
    { numRuns: 50 },
  );
});
