import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseConfig } from "../../../../server/platform/config/config.ts";
import { createTokenService } from "../../../../server/platform/security/tokens.ts";
import { systemClock } from "../../../../server/platform/time/clock.ts";
import { fingerprintsOf } from "../../../../server/runtime/fleet/fingerprint.ts";

const [first, second] = ["a".repeat(40), "b".repeat(40)];
const fingerprints = (APP_SECRET: string, APP_SECRET_PREVIOUS = "") =>
  fingerprintsOf({ APP_SECRET, APP_SECRET_PREVIOUS });

describe("the fingerprint of a secret", () => {
  it("is equal for equal secrets, whichever setting has them", () => {
    const [own, previous] = fingerprints(first, second);
    assert.deepEqual(fingerprints(second), [previous]);
    assert.notEqual(own, previous);
  });

  it("is neither a part of it nor a key of a token", () => {
    const [print = ""] = fingerprints(first);
    assert.match(print, /^[\w-]{16}$/);
    const config = { ...parseConfig({}), APP_SECRET: first };
    const token = createTokenService(config, systemClock).sign("access", "1", 60);
    const guess = createTokenService({ ...config, APP_SECRET: print }, systemClock);
    assert.equal(guess.verify("access", token), null);
    assert.ok(!token.includes(print));
  });
});
