import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createLoginFailures } from "../../../server/operator/session/login-failures.ts";
import { manualClock } from "../../support/clock.ts";

const failTen = (failures: ReturnType<typeof createLoginFailures>, ip: string) => {
  for (let i = 0; i < 10; i++) failures.record(ip);
};

describe("the counter of refused operator logins", () => {
  it("blocks an address after ten refusals in a minute, until the minute is over", () => {
    const clock = manualClock();
    const failures = createLoginFailures(clock);
    failTen(failures, "203.0.113.9");
    assert.equal(failures.waitOf("203.0.113.9"), 60);
    assert.equal(failures.waitOf("203.0.113.10"), 0);
    clock.advance(60_000);
    assert.equal(failures.waitOf("203.0.113.9"), 0);
  });

  it("extends no block when the clock is set back", () => {
    const clock = manualClock();
    const failures = createLoginFailures(clock);
    failTen(failures, "203.0.113.9");
    clock.advance(-3_600_000);
    assert.ok(failures.waitOf("203.0.113.9") <= 60);
    failTen(failures, "203.0.113.9");
    assert.equal(failures.waitOf("203.0.113.9"), 60);
  });

  it("counts an IPv6 client by its /64", () => {
    const failures = createLoginFailures(manualClock());
    for (let i = 0; i < 10; i++) failures.record(`2001:db8:1:2::${i}`);
    assert.equal(failures.waitOf("2001:db8:1:2:ffff::1"), 60);
    assert.equal(failures.waitOf("2001:db8:1:3::1"), 0);
  });
});
