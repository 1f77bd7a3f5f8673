import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Redis } from "ioredis";
import { silentLogger } from "../../../server/platform/log/logger.ts";
import { connectRedis, redisReady } from "../../../server/platform/redis/redis.ts";
import { testStores, type TestStores } from "../../support/stores.ts";
import { bodyOf, by, newMember, startedLobby } from "./fleet.ts";
import { lobbyKey } from "../../support/lobby-keys.ts";

describe("a lobby that was running when an earlier version was stopped", () => {
  let stores: TestStores;
  let redis: Redis;
  before(async () => {
    stores = await testStores();
    redis = connectRedis(stores.redisUrl, silentLogger, "test");
    await redisReady(redis);
  });
  after(async () => {
    redis.disconnect();
    await stores.stop();
  });

  /** The format before a commit had a single stamp: version and id of the last commit in one field each. */
  async function rewrite(code: string): Promise<void> {
    const [version = "", id = ""] = ((await redis.hget(lobbyKey(code), "v")) ?? "").split(" ");
    assert.notEqual(id, "");
    await redis.hset(lobbyKey(code), "v", version, "c", id);
  }

  it("continues from its events and from a snapshot", async () => {
    const code = "EARLYA";
    const earlier = await newMember(stores.redisUrl);
    await startedLobby(earlier.lobbies, code, { mode: "coop", questions: 3, seats: [1, 2] });
    await earlier.lobbies.stop();
    await rewrite(code);
    const present = await newMember(stores.redisUrl);
    const pick = (selectedIndex: number) =>
      present.lobbies.ask(code, { type: "pick", selectedIndex, index: 0, ...by(2) });
    for (let n = 0; n < 40; n++) bodyOf(await pick(n % 4));
    const key = "K1";
    const lock = { type: "lock", index: 0, ...by(1) } as const;
    const first = await present.lobbies.ask(code, lock, key);
    assert.deepEqual(await present.lobbies.ask(code, lock, key), first);
    const { lobby } = bodyOf(await present.lobbies.ask(code, { type: "read", ...by(1) }));
    assert.equal(lobby.status, "in_progress");
    await present.lobbies.stop();
  });
});
