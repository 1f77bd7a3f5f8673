import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Redis } from "ioredis";
import { silentLogger } from "../../../server/platform/log/logger.ts";
import { connectRedis, redisReady } from "../../../server/platform/redis/redis.ts";
import { testStores, type TestStores } from "../../support/stores.ts";
import { bodyOf, by, newMember, startedLobby, type Member } from "./fleet.ts";
import { eventStreamKey, lobbyKey } from "../../support/lobby-keys.ts";

describe("a lobby whose log is ahead of its state", () => {
  let stores: TestStores;
  let redis: Redis;
  let member: Member;
  before(async () => {
    stores = await testStores();
    redis = connectRedis(stores.redisUrl, silentLogger, "test");
    await redisReady(redis);
    member = await newMember(stores.redisUrl);
  });
  after(async () => {
    await member.lobbies.stop();
    redis.disconnect();
    await stores.stop();
  });

  const pick = (code: string, selectedIndex: number) =>
    member.lobbies.ask(code, { type: "pick", selectedIndex, index: 0, ...by(2) });

  it("leaves a gap and continues, and delays no other lobby of its batch", async () => {
    const [torn, intact] = ["AAAAAA", "BBBBBB"] as const;
    for (const code of [torn, intact]) await startedLobby(member.lobbies, code, { seats: [1, 2] });
    const before = await redis.hgetall(lobbyKey(torn));
    const [[last] = [""]] = await redis.xrevrange(eventStreamKey(torn), "+", "-", "COUNT", 1);
    const number = Number.parseInt(last, 10);
    await redis.xadd(eventStreamKey(torn), `${number + 5}-0`, "d", `${number + 5}\n{}`);

    const picks = [torn, intact].map(async (code) => bodyOf(await pick(code, 1)));
    await Promise.all(picks);
    const log = await redis.xrange(eventStreamKey(torn), `${number + 6}-0`, "+");
    const types = log.map(([, [, text = ""]]) => /"type":"([^"]+)"/.exec(text)?.[1]);
    assert.deepEqual(types, ["lobby.gap", "lobby.pick"]);
    const stored = await redis.hgetall(lobbyKey(torn));
    assert.equal(Number.parseInt(stored["v"] ?? ""), Number.parseInt(before["v"] ?? "") + 2);
    bodyOf(await pick(torn, 2));
  });
});
