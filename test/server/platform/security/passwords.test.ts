import assert from "node:assert/strict";
import { describe, it } from "node:test";
import argon2 from "argon2";
import { AppError } from "../../../../server/platform/errors.ts";
import { createPasswordHasher } from "../../../../server/platform/security/passwords.ts";

describe("the password hasher", () => {
  const hasher = createPasswordHasher();

  it("creates Argon2id hashes of the specified strength, each with its own salt", async () => {
    const [one, two] = await Promise.all([hasher.hash(" pass word "), hasher.hash(" pass word ")]);
    assert.match(one, /^\$argon2id\$v=19\$m=19456,p=1,t=2\$/);
    assert.notEqual(one, two);
    assert.equal(await hasher.verify(one, " pass word "), true);
    assert.equal(await hasher.verify(one, "pass word"), false);
    assert.equal(hasher.needsRehash(one), false);
  });

  it("accepts passwords exactly as typed, up to 128 characters of any kind", async () => {
    const long = "ä😀".repeat(64);
    const hash = await hasher.hash(long);
    assert.equal(await hasher.verify(hash, long), true);
    assert.equal(await hasher.verify(hash, long.normalize("NFD")), false);
    assert.equal(await hasher.verify(hash, long.slice(0, -2)), false);
  });

  it("asks to rehash weaker hashes", async () => {
    const weak = await argon2.hash("secret", { memoryCost: 8_192, timeCost: 1, parallelism: 1 });
    assert.equal(hasher.needsRehash(weak), true);
    assert.equal(await hasher.verify(weak, "secret"), true);
  });

  it("uses the same CPU time for an unknown account as for a known one", async () => {
    const hash = await hasher.hash("secret");
    const time = async (given: string | null) => {
      const times: number[] = [];
      for (let i = 0; i < 9; i++) {
        const before = process.cpuUsage();
        assert.equal(await hasher.verify(given, "wrong"), false);
        const { user, system } = process.cpuUsage(before);
        times.push(user + system);
      }
      return times.toSorted((a, b) => a - b)[4] ?? 0;
    };
    const [known, unknown] = [await time(hash), await time(null)];
    assert.ok(unknown > known / 3 && unknown < known * 3, `${known} µs against ${unknown} µs`);
  });

  it("refuses work beyond four running and 64 waiting calls, and recovers", async () => {
    const results = await Promise.allSettled(
      Array.from({ length: 75 }, () => hasher.verify(null, "x")),
    );
    const refused = results.filter((result) => result.status === "rejected");
    assert.equal(refused.length, 75 - 68);
    for (const { reason } of refused) {
      assert.ok(reason instanceof AppError && reason.code === "server:unavailable");
      assert.deepEqual(reason.detail.params, { retry_after: 1 });
    }
    assert.equal(await hasher.verify(null, "x"), false);
  });
});
