import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { sql } from "kysely";
import { rowsOf } from "../../../../db/queries/rows.ts";
import {
  newPlaintext,
  readKeyText,
  type PresentedKey,
} from "../../../../server/platform/security/api-keys.ts";
import type { AppError } from "../../../../server/platform/errors.ts";
import {
  app,
  workers,
  clock,
  newKeyCache,
  keysPath,
  me,
  owner,
  codeOf,
  probe,
  startsKeysApp,
} from "./keys-app.ts";

const pauseMs = 5;

describe("changes of API keys", () => {
  startsKeysApp();

  describe("a change to a key", () => {
    /** Both workers accept the key before the change; after it both must answer `expected`. */
    async function takesEffect(
      plaintext: string,
      change: () => Promise<unknown>,
      expected: string,
    ) {
      // The previous change may also take a moment to be visible.
      await bothAnswer(plaintext, "200");
      await change();
      await bothAnswer(plaintext, expected);
    }

    async function bothAnswer(plaintext: string, expected: string) {
      const headers = { "x-api-key": plaintext, origin: "https://a.example" };
      // The second consists of pauses, because a busy machine takes longer for the requests between them.
      let pausedMs = 0;
      for (const worker of workers)
        while (codeOf(await worker.client.get(probe, { headers })) !== expected) {
          assert.ok(pausedMs < 1_000, `${expected} did not come within a second (KEY-06)`);
          await pause(pauseMs);
          pausedMs += pauseMs;
        }
    }

    it("takes effect on every worker: disabling, origins, scopes, rotation, expiry, revocation, account closing", async () => {
      const one = await owner();
      const key = await one.create({
        scopes: ["trivia:read"],
        expires_at: new Date(clock.now() + 60_000).toISOString(),
      });
      const place = `${keysPath}/${key.id}`;
      const patch = (body: unknown) => () => app.client.patch(place, { token: one.token, body });
      await takesEffect(key.plaintext, patch({ is_active: false }), "401 key:invalid");
      await patch({ is_active: true })();
      await takesEffect(
        key.plaintext,
        patch({ origins: ["b.example"] }),
        "403 key:origin_forbidden",
      );
      await patch({ origins: [] })();
      await takesEffect(
        key.plaintext,
        patch({ scopes: ["profile:read"] }),
        "403 key:scope_missing",
      );
      await patch({ scopes: ["*"] })();
      let rolled = "";
      const roll = async () => {
        const answer = await app.client.post(`${place}/roll`, { token: one.token });
        rolled = (answer.body as { plaintext: string }).plaintext;
      };
      await takesEffect(key.plaintext, roll, "401 key:invalid");
      await takesEffect(rolled, async () => clock.advance(61_000), "401 key:expired");
      const second = await one.create({ scopes: ["*"] });
      const revoke = () => app.client.delete(`${keysPath}/${second.id}`, { token: one.token });
      await takesEffect(second.plaintext, revoke, "401 key:revoked");
      const third = await one.create({ scopes: ["*"] });
      await takesEffect(
        third.plaintext,
        () => app.client.delete(me, { token: one.token }),
        "401 key:invalid",
      );
    });

    it("of a realm also disables its keys", async () => {
      const one = await owner();
      const { plaintext } = await one.create({ scopes: ["*"] });
      const set = (isActive: boolean) => () =>
        rowsOf(app.deps.em, sql`update realms set is_active = ${isActive} where slug = 'gamedata'`);
      await takesEffect(plaintext, set(false), "401 key:invalid");
      await set(true)();
    });
  });
  describe("the keys cached by a process", () => {
    it("are bounded, and so are lookups of unknown keys", async () => {
      const one = await owner();
      const cache = newKeyCache(3);
      const keys: string[] = [];
      for (let n = 0; n < 6; n += 1) keys.push((await one.create()).plaintext);
      for (const plaintext of keys) assert.ok(await cache.find(presented(plaintext)));
      assert.equal(cache.size(), 3);
      const prefixes = Array.from({ length: 300 }, (_, n) => `rk${String(n).padStart(10, "0")}`);
      const finds = await Promise.allSettled(
        prefixes.map(async (prefix) => cache.find(presented(newPlaintext(prefix)))),
      );
      const refused = finds
        .filter((one) => one.status === "rejected")
        .map((one) => one.reason as AppError);
      assert.deepEqual(
        refused.map(({ code }) => code),
        Array.from({ length: 40 }, () => "server:unavailable"),
      );
      assert.equal(cache.size(), 3);
    });
  });
});

const presented = (plaintext: string): PresentedKey => {
  const key = readKeyText(plaintext);
  assert.ok(key);
  return key;
};
