import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createInstance } from "../../../../server/platform/instance.ts";
import { silentLogger } from "../../../../server/platform/log/logger.ts";
import type { ProcessEvent } from "../../../../server/platform/process-event.ts";
import {
  maxWaitingEvents,
  ProcessEventLog,
  type NewProcessEvent,
} from "../../../../server/runtime/boot/process-event-log.ts";
import { manualClock } from "../../../support/clock.ts";
import { eventually } from "../../../support/eventually.ts";

const happened = (kind: NewProcessEvent["kind"], index = 0): NewProcessEvent => ({
  ...{ kind, role: "http", index, pid: 7, instance: null, version: null, build: null, detail: {} },
});

/** A log whose store the test controls. */
function logWith(options: { isAway?: boolean; retryMs?: number } = {}) {
  const stored: ProcessEvent[] = [];
  const given: (readonly ProcessEvent[])[] = [];
  const state = { isAway: options.isAway ?? false };
  const log = new ProcessEventLog({
    instance: createInstance({ role: "primary", index: 0, version: "1.0.0" }),
    clock: manualClock(),
    log: silentLogger,
    store: async (events) => {
      given.push(events);
      if (!state.isAway) stored.push(...events);
      return !state.isAway;
    },
    retryMs: options.retryMs ?? 60_000,
  });
  return { log, stored, given, state };
}

const turn = () => new Promise<void>((done) => setImmediate(done));

describe("the events that the primary holds", () => {
  it("are handed over at once, each under a key of its own", async () => {
    const { log, stored } = logWith();
    log.record(happened("started"));
    log.record(happened("exited", 1));
    await turn();
    assert.deepEqual(
      stored.map(({ kind, index }) => [kind, index]),
      [
        ["started", 0],
        ["exited", 1],
      ],
    );
    assert.equal(new Set(stored.map(({ key }) => key)).size, 2);
  });

  it("wait while no process stores them, and keep their keys", async () => {
    const { log, stored, given, state } = logWith({ isAway: true });
    log.record(happened("frozen"));
    await turn();
    assert.equal(stored.length, 0);
    state.isAway = false;
    log.flush();
    await turn();
    const keys = given.flat().map(({ key }) => key);
    assert.equal(stored.length, 1);
    assert.deepEqual(keys, [keys[0], keys[0]]);
  });

  it("are handed over again by themselves", async () => {
    const { log, stored, state } = logWith({ isAway: true, retryMs: 1 });
    log.record(happened("frozen"));
    await turn();
    state.isAway = false;
    // The timer does not keep a process alive.
    const awake = setInterval(() => {}, 1_000);
    await eventually("it is stored", () => stored.length === 1);
    clearInterval(awake);
  });

  it("are bounded, and those beyond are counted as an event", async () => {
    const { log, stored, state } = logWith({ isAway: true });
    for (let n = 0; n < maxWaitingEvents + 3; n++) log.record(happened("exited", n));
    await turn();
    state.isAway = false;
    log.flush();
    await eventually("all are stored", () => stored.length > maxWaitingEvents);
    assert.equal(stored.length, maxWaitingEvents + 1);
    const last = stored.at(-1);
    assert.deepEqual([last?.kind, last?.role, last?.detail], ["dropped", "primary", { count: 3 }]);
    assert.equal(stored[maxWaitingEvents - 1]?.index, maxWaitingEvents - 1);
  });
});
