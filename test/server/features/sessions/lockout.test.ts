import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseConfig } from "../../../../server/platform/config/config.ts";
import type { Occurrence } from "../../../../server/platform/faults/batch.ts";
import { silentLogger } from "../../../../server/platform/log/logger.ts";
import { connectRedis } from "../../../../server/platform/redis/redis.ts";
import {
  clearLocks,
  endLocks,
  lockoutOf,
} from "../../../../server/features/sessions/domain/lockout.ts";
import { listFaults } from "../../../support/faults.ts";
import { manualClock } from "../../../support/clock.ts";

describe("the lock after failed logins while Redis is unavailable", () => {
  it("does not last longer when the clock is set back, and is recorded as degraded", async () => {
    const redis = connectRedis("unix:///nowhere/redis.sock", silentLogger, "test");
    const recorded: Occurrence[] = [];
    const clock = manualClock();
    const config = parseConfig({ LOCKOUT_THRESHOLD: "1", LOCKOUT_SECONDS: "900" });
    const lockout = lockoutOf({ redis, config, clock, faults: listFaults(recorded) });
    await lockout.fail("player:1", 1);
    assert.equal(await lockout.remaining("player:1"), 900);
    clock.advance(-3_600_000);
    assert.ok((await lockout.remaining("player:1")) <= 900);
    await lockout.succeed("player:2");
    const deps = { redis, config, clock, faults: listFaults(recorded) };
    await clearLocks(deps, { id: 2, emailKey: null, nameKey: "two" });
    // The identifier is nobody's business (S27).
    assert.deepEqual([...new Set(recorded.map(({ place }) => place))], ["login-lockout"]);
    assert.equal(recorded.length, 5);
    assert.doesNotMatch(JSON.stringify(recorded), /player:/);
    redis.disconnect();
  });

  it("is not reported as ended to an operator", async () => {
    const redis = connectRedis("unix:///nowhere/redis.sock", silentLogger, "test");
    const deps = { redis, config: parseConfig({}), clock: manualClock(), faults: listFaults([]) };
    await assert.rejects(endLocks(deps, { id: 2, emailKey: null, nameKey: "two" }));
    redis.disconnect();
  });
});
