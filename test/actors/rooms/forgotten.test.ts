import assert from "node:assert/strict";
import { test } from "node:test";
import { pino } from "pino";
import { silentLogger } from "../../../server/platform/log/logger.ts";
import { connectRedis, redisReady } from "../../../server/platform/redis/redis.ts";
import { testStores } from "../../support/stores.ts";
import { bodyOf, by, newMember, startedLobby } from "./fleet.ts";
import { lobbyKey, workersKey } from "../../support/lobby-keys.ts";

test("a worker that Redis counts as dead reports so, writes nothing, and serves again after it rejoins", async () => {
  const stores = await testStores();
  const redis = connectRedis(stores.redisUrl, silentLogger, "test");
  await redisReady(redis);
  const lines: { lobby?: string; msg: string }[] = [];
  const log = pino({ level: "warn" }, { write: (line) => void lines.push(JSON.parse(line)) });
  const { lobbies } = await newMember(stores.redisUrl, { log, timings: { timeoutMs: 30_000 } });
  try {
    await startedLobby(lobbies, "AAAAAA", { seats: [1, 2] });
    const before = await redis.hgetall(lobbyKey("AAAAAA"));
    await redis.del(workersKey);
    const reply = await lobbies.ask("AAAAAA", {
      type: "pick",
      selectedIndex: 1,
      index: 0,
      ...by(2),
    });
    bodyOf(reply);
    const refused = lines.filter(({ msg }) => msg.includes("counts as dead"));
    assert.equal(refused[0]?.lobby, "AAAAAA");
    const written = await redis.hgetall(lobbyKey("AAAAAA"));
    assert.equal(Number.parseInt(written["v"] ?? ""), Number.parseInt(before["v"] ?? "") + 1);
  } finally {
    await lobbies.stop();
    redis.disconnect();
    await stores.stop();
  }
});
