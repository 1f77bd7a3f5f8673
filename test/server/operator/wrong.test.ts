import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  maxFailuresShown,
  whatIsWrong,
  type Symptoms,
} from "../../../server/operator/overview/wrong.ts";
import { sampleFailure } from "./failures/sample-failure.ts";

const health = {
  degraded: [],
  status: "ok" as const,
  num_processes: 2,
  num_waiting: 0,
  missing_stores: [],
  read_only_stores: [],
  avatar_moderation: "ready",
};
const process = {
  ...{ role: "http" as const, index: 0, pid: 7, isReady: true },
  ...{ restarts: 0, startedAt: 0, nodeId: null },
};
const queue = { name: "mail", is_paused: false, counts: {}, oldest_waiting_seconds: null };
const well = {
  health,
  failures: [],
  queues: [queue],
  processes: [process],
  maintenance: null,
  fleet: [],
} as unknown as Symptoms;
const recent = { ...sampleFailure, state: "open" as const, periods: [3] };
const old = { ...recent, periods: [0] };

describe("what is wrong now", () => {
  const cases: [what: string, change: object, kinds: string[]][] = [
    ["nothing", {}, []],
    ["a store that is away", { health: { ...health, missing_stores: ["redis"] } }, ["store"]],
    [
      "a store that takes no writes",
      { health: { ...health, read_only_stores: ["redis"] } },
      ["store"],
    ],
    [
      "maintenance that nobody has ended",
      { maintenance: { text: "Back soon.", retryAfter: 60, sinceMs: 0 } },
      ["maintenance"],
    ],
    ["a process that is not ready", { processes: [{ ...process, isReady: false }] }, ["process"]],
    ["clocks that differ", { fleet: [{ kind: "clocks", text: "they differ" }] }, ["fleet"]],
    ["an open group of the last hour", { failures: [{ ...recent, numJobs: 0 }] }, ["failure"]],
    ["an older group with failed jobs", { failures: [{ ...old, numJobs: 2 }] }, ["failure"]],
    [
      "a fallback",
      { failures: [{ ...recent, key: { ...recent.key, kind: "degraded" } }] },
      ["degraded"],
    ],
    [
      "a group whose state is unknown",
      { failures: [{ ...recent, state: "unknown" }] },
      ["failure"],
    ],
    ["failures that cannot be read", { failures: null }, ["failure"]],
    ["a paused queue", { queues: [{ ...queue, is_paused: true }] }, ["queue"]],
    [
      "a job that waits for long",
      { queues: [{ ...queue, oldest_waiting_seconds: 61 }] },
      ["queue"],
    ],
    ["not an older group without jobs", { failures: [{ ...old, numJobs: 0 }] }, []],
    ["not a group that is ignored", { failures: [{ ...recent, state: "ignored" }] }, []],
    ["not a group that is resolved", { failures: [{ ...recent, state: "resolved" }] }, []],
    ["not a short wait", { queues: [{ ...queue, oldest_waiting_seconds: 59 }] }, []],
    ["not queues that cannot be read, their store is named", { queues: null }, []],
  ];
  for (const [what, change, kinds] of cases)
    it(`has ${what}`, () => {
      const found = whatIsWrong({ ...well, ...change } as Symptoms);
      assert.deepEqual(
        found.map(({ kind }) => kind),
        kinds,
      );
    });

  it("says of a group its cause, place, jobs, players and since when", () => {
    const [found] = whatIsWrong({ ...well, failures: [recent] } as Symptoms);
    assert.equal(found?.num_failed_jobs, recent.numJobs);
    assert.equal(found?.num_players, recent.numPlayers);
    assert.equal(found?.num_last_hour, 3);
    assert.equal(found?.place, recent.key.place);
    assert.equal(found?.path, `/operator/failures/${recent.id}`);
  });

  it("shows stores first, and a bounded number of groups", () => {
    const failures = Array.from({ length: maxFailuresShown + 3 }, () => recent);
    const stores = { ...health, missing_stores: ["postgres"] };
    const found = whatIsWrong({ ...well, health: stores, failures } as Symptoms);
    assert.equal(found.length, maxFailuresShown + 1);
    assert.equal(found[0]?.kind, "store");
  });
});
