import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../../server/platform/log/logger.ts";
import { createClassifier } from "../../../server/features/avatars/classifier/classifier.ts";
import { readHealth } from "../../../server/operator/health/health.ts";

test("health reports that avatar moderation is unavailable and stays ok", async () => {
  const entry = new URL("file:///nowhere/process.ts");
  const classifier = createClassifier({ log: silentLogger, entry });
  const worker = {
    ...{ role: "jobs" as const, index: 0, pid: 1, restarts: 0, startedAt: 0 },
    isDraining: false,
  };
  const sources = {
    processes: async () => [{ ...worker, isReady: true, nodeId: null, instance: null }],
    stores: async () => ({ postgres: "ok" as const, redis: "ok" as const }),
    moderators: async () => ["idle", classifier.state()],
    fleetProblems: async () => [],
  };
  assert.equal((await readHealth(sources)).avatar_moderation, "idle");
  await assert.rejects(classifier.classify(new Uint8Array(3)));
  const { status, degraded, avatar_moderation } = await readHealth(sources);
  assert.deepEqual([status, avatar_moderation], ["ok", "unavailable"]);
  assert.deepEqual(degraded, ["no avatar moderation"]);
  const withoutModerators = { ...sources, moderators: async () => [] };
  assert.equal((await readHealth(withoutModerators)).avatar_moderation, "unavailable");
  classifier.stop();
});

test("health names every process that is not ready and every store that is not well", async () => {
  const process = {
    ...{ pid: 1, restarts: 0, startedAt: 0, nodeId: null, instance: null },
    isDraining: false,
  };
  const found = await readHealth({
    processes: async () => [
      { ...process, role: "http", index: 0, isReady: true },
      { ...process, role: "http", index: 1, isReady: false },
      { ...process, role: "jobs", index: 0, isReady: false },
    ],
    stores: async () => ({ postgres: "away", redis: "read_only" }),
    moderators: async () => ["idle"],
    fleetProblems: async () => [],
  });
  assert.equal(found.status, "unavailable");
  assert.deepEqual(found.degraded, [
    "process http 1 is not ready",
    "process jobs 0 is not ready",
    "postgres does not respond",
    "redis refuses writes",
  ]);
  const unknown = await readHealth({
    processes: async () => [],
    stores: async () => ({ postgres: "ok", redis: "ok" }),
    moderators: async () => ["idle"],
    fleetProblems: async () => [],
  });
  assert.deepEqual(unknown.degraded, ["the primary does not respond"]);
});

test("health stays ok while the instances of the fleet do not fit together, and says so", async () => {
  const worker = { role: "http" as const, index: 0, pid: 1, restarts: 0, startedAt: 0 };
  const { status, degraded } = await readHealth({
    processes: async () => [
      { ...worker, isReady: true, isDraining: false, nodeId: null, instance: null },
    ],
    stores: async () => ({ postgres: "ok", redis: "ok" }),
    moderators: async () => ["idle"],
    fleetProblems: async () => [{ kind: "clocks", text: "the clocks differ" }],
  });
  assert.deepEqual([status, degraded], ["ok", ["the clocks differ"]]);
});
