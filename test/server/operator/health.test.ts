import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../../server/platform/log/logger.ts";
import { createClassifier } from "../../../server/features/avatars/classifier/classifier.ts";
import { readiness } from "../../../server/operator/health/readiness.ts";

test("readiness reports that avatar moderation is unavailable and stays ok", async () => {
  const entry = new URL("file:///nowhere/process.ts");
  const classifier = createClassifier({ log: silentLogger, entry });
  const worker = { role: "jobs" as const, index: 0, pid: 1, restarts: 0, startedAt: 0 };
  const sources = {
    processes: async () => [{ ...worker, isReady: true, nodeId: null }],
    stores: async () => ({ postgres: "ok" as const, redis: "ok" as const }),
    moderators: async () => ["idle", classifier.state()],
  };
  assert.equal((await readiness(sources)).avatar_moderation, "idle");
  await assert.rejects(classifier.classify(new Uint8Array(3)));
  const { status, avatar_moderation } = await readiness(sources);
  assert.deepEqual([status, avatar_moderation], ["ok", "unavailable"]);
  const withoutModerators = { ...sources, moderators: async () => [] };
  assert.equal((await readiness(withoutModerators)).avatar_moderation, "unavailable");
  classifier.stop();
});
