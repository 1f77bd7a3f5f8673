import assert from "node:assert/strict";
import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { after, afterEach, before, describe, it, mock } from "node:test";
import type { MikroORM } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { rowsOf } from "../../../../db/queries/rows.ts";
import { LruApiKeyCache } from "../../../../server/features/keys/domain/api-key-cache.ts";
import { PresentedKeys } from "../../../../server/http/auth/presented-keys.ts";
import type { RequestInfo } from "../../../../server/http/pipeline/route.ts";
import { newKeyPrefix, newPlaintext } from "../../../../server/platform/security/api-keys.ts";
import { silentLogger } from "../../../../server/platform/log/logger.ts";
import { app, clock, codeOf, owner, probe, startsKeysApp, workers } from "./keys-app.ts";

/** What checks of keys have cost since the last call of `take`. */
interface Work {
  reads: number;
  hashes: number;
  comparisons: number;
}

/** A process's keys, whose reads from Postgres are counted. */
function startCheck() {
  let reads = 0;
  const em = {
    fork: () => {
      reads += 1;
      return app.deps.orm.em.fork();
    },
  };
  const orm = Object.create(app.deps.orm, { em: { value: em } }) as MikroORM;
  const cache = new LruApiKeyCache({ orm, clock, log: silentLogger });
  const keys = new PresentedKeys(cache, clock);
  const check = (plaintext: string) =>
    keys.check({ headers: { "x-api-key": plaintext } } as unknown as RequestInfo);
  const workOf = async (plaintext: string): Promise<Work> => {
    const hashes = mock.method(crypto, "hash");
    const comparisons = mock.method(crypto, "timingSafeEqual");
    syncBuiltinESMExports();
    reads = 0;
    const checked = await check(plaintext);
    mock.restoreAll();
    syncBuiltinESMExports();
    assert.deepEqual(checked, { key: null, problem: "key:invalid" });
    return { reads, hashes: hashes.mock.callCount(), comparisons: comparisons.mock.callCount() };
  };
  return { check, workOf };
}

describe("a wrong secret of an API key", () => {
  startsKeysApp();
  let unknown = "";
  before(() => (unknown = newPlaintext(newKeyPrefix())));
  afterEach(() => mock.restoreAll());
  after(() => syncBuiltinESMExports());

  it("costs the same reads and comparisons under a known prefix as under an unknown one", async () => {
    const { plaintext, prefix } = await (await owner()).create();
    const { check, workOf } = startCheck();
    const wrong = newPlaintext(prefix);
    const once: Work = { reads: 1, hashes: 1, comparisons: 2 };
    assert.deepEqual(await workOf(wrong), once, "not cached");
    assert.deepEqual(await workOf(wrong), once, "cached by the one before");
    assert.notEqual((await check(plaintext))?.key, null);
    assert.deepEqual(await workOf(wrong), once, "in use");
    for (let n = 0; n < 3; n++) assert.deepEqual(await workOf(unknown), once, "unknown");
  });

  it("costs the same under a prefix that was revoked or switched off", async () => {
    const one = await owner();
    const { workOf } = startCheck();
    for (const set of [sql`revoked_at = now()`, sql`is_active = false`]) {
      const { id, prefix } = await one.create();
      await rowsOf(app.deps.em, sql`update api_keys set ${set} where id = ${id}`);
      assert.deepEqual(await workOf(newPlaintext(prefix)), await workOf(unknown));
    }
  });

  it("is refused like an unknown one", async () => {
    const { prefix } = await (await owner()).create({ scopes: ["trivia:read"] });
    const [worker] = workers;
    assert.ok(worker);
    for (const key of [newPlaintext(prefix), unknown]) {
      const answer = await worker.client.get(probe, { headers: { "x-api-key": key } });
      assert.equal(codeOf(answer), "401 key:invalid");
    }
  });
});
