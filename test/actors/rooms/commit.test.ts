import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import type { Redis } from "ioredis";
import { Journal, type Commit } from "../../../actors/log/journal.ts";
import { shardOf } from "../../../actors/log/keys.ts";
import { lobbyKeyspace } from "../../../actors/lobby/keys.ts";
import { runScript } from "../../../actors/log/scripts.ts";
import { stampOf } from "../../../actors/log/stored-state.ts";
import { systemTiming } from "../../../actors/timing.ts";
import { silentLogger } from "../../../server/platform/log/logger.ts";
import { createMetrics } from "../../../server/platform/metrics/metrics.ts";
import { connectRedis, redisReady } from "../../../server/platform/redis/redis.ts";
import { testStores, type TestStores } from "../../support/stores.ts";
import { bodyOf, by, createCommand, newMember } from "./fleet.ts";
import {
  dueKey,
  eventChannel,
  eventStreamKey,
  leavingKey,
  lobbyKey,
  ownerKey,
  portsKey,
  workersKey,
} from "../../support/lobby-keys.ts";

const code = "ABCDEF";
const token = "w1|1";
let stores: TestStores;
let redis: Redis;
let journal: Journal;
let commitCount = 0;

type Sent = Commit & { token: string };

const commit = (sent: Sent, to = journal) => to.commit(sent, sent.token);

const change = (more: Partial<Sent> = {}): Sent => ({
  code,
  token,
  expected: "",
  version: 1,
  id: `c${++commitCount}`,
  seq: 1,
  fields: [["d:1", "[]"]],
  removedFields: [],
  payloads: ['{"type":"x"}'],
  ttlMs: 60_000,
  due: 1234,
  ...more,
});

describe("the commit script", () => {
  before(async () => {
    stores = await testStores();
    redis = connectRedis(stores.redisUrl, silentLogger, "test");
    await redisReady(redis);
    journal = new Journal({
      keys: lobbyKeyspace,
      redis,
      metrics: createMetrics().rooms("lobby"),
      timing: systemTiming,
      counted: null,
      isConfirmedAlive: () => true,
    });
  });
  after(async () => {
    redis.disconnect();
    await stores.stop();
  });
  beforeEach(async () => {
    await redis.flushall();
    await redis.set(ownerKey(shardOf(code)), token);
  });

  describe("decides who may write", () => {
    it("writes the fields, the event, its announcement and the deadline together", async () => {
      const listener = connectRedis(stores.redisUrl, silentLogger, "listener");
      await redisReady(listener);
      await listener.subscribe(eventChannel(code));
      const published = new Promise<string>((resolve) =>
        listener.on("message", (_channel, message: string) => resolve(message)),
      );
      const sent = change();
      assert.equal(await commit(sent), "committed");
      assert.equal(await published, '1\n{"type":"x"}');
      listener.disconnect();
      assert.deepEqual(await redis.hmget(lobbyKey(code), "v", "d:1"), [
        stampOf(sent.version, sent.id),
        "[]",
      ]);
      assert.deepEqual(await redis.xrange(eventStreamKey(code), "-", "+"), [
        ["1-0", ["d", '1\n{"type":"x"}']],
      ]);
      assert.equal(await redis.zscore(dueKey(shardOf(code)), code), "1234");
      assert.ok((await redis.pttl(lobbyKey(code))) > 0);
    });

    it("changes nothing for a worker that is not the owner any more", async () => {
      await redis.set(ownerKey(shardOf(code)), "w2|2");
      assert.equal(await commit(change()), "fenced");
      assert.equal(
        await redis.exists(lobbyKey(code), eventStreamKey(code), dueKey(shardOf(code))),
        0,
      );
    });

    it("changes nothing when the lobby has moved on", async () => {
      await commit(change());
      assert.equal(await commit(change({ seq: 2 })), "conflict");
      assert.equal(await redis.xlen(eventStreamKey(code)), 1);
    });

    it("applies a commit once when its answer was lost and it is sent again", async () => {
      const sent = change();
      assert.equal(await commit(sent), "committed");
      assert.equal(await commit(sent), "committed");
      assert.equal(await redis.xlen(eventStreamKey(code)), 1);
      assert.equal(await redis.hget(lobbyKey(code), "v"), stampOf(sent.version, sent.id));
    });

    it("decides about each lobby of a tick alone", async () => {
      const foreign = "ZZZZZZ";
      const results = await Promise.all([
        commit(change()),
        commit(change({ code: foreign, token: "w1|9" })),
        commit(change({ code: "ABCDEG", token: "", due: null, ttlMs: null })),
      ]);
      assert.deepEqual(results, ["committed", "fenced", "committed"]);
      assert.equal(await redis.exists(lobbyKey(foreign)), 0);
    });
  });
  describe("keeps the log", () => {
    it("numbers several events of one commit up to the last", async () => {
      await commit(change({ seq: 3, payloads: ["a", "b", "c"] }));
      const ids = (await redis.xrange(eventStreamKey(code), "-", "+")).map(([id]) => id);
      assert.deepEqual(ids, ["1-0", "2-0", "3-0"]);
    });

    it("does not take a commit of the same version by another owner for its own", async () => {
      await commit(change());
      assert.equal(await commit(change()), "conflict");
    });

    it("keeps the newest messages of a log and drops what is far behind", async () => {
      let expected = "";
      for (let version = 1; version <= 150; version++) {
        const payloads = Array.from({ length: 5 }, () => "x".repeat(50));
        const sent = change({ expected, version, seq: version * 5, payloads });
        assert.equal(await commit(sent), "committed");
        expected = stampOf(sent.version, sent.id);
      }
      const ids = (await redis.xrange(eventStreamKey(code), "-", "+")).map(([id]) => id);
      assert.equal(ids.at(-1), "750-0");
      assert.ok(ids.length >= 256, `${ids.length}`);
      // Redis trims whole blocks of a hundred.
      assert.ok(ids.length < 256 + 100 + 5, `${ids.length}`);
    });

    it("leaves an unchanged deadline, and removes one that has gone with the replaced fields", async () => {
      const first = change();
      await commit(first);
      const second = change({
        expected: stampOf(first.version, first.id),
        version: 2,
        seq: 2,
        due: undefined,
      });
      assert.equal(await commit(second), "committed");
      assert.equal(await redis.zscore(dueKey(shardOf(code)), code), "1234");
      const next = change({
        expected: stampOf(second.version, second.id),
        version: 3,
        seq: 2,
        payloads: [],
        fields: [["s", "{}"]],
        removedFields: ["d:1"],
        due: null,
      });
      assert.equal(await commit(next), "committed");
      assert.deepEqual(await redis.hmget(lobbyKey(code), "d:1", "s"), [null, "{}"]);
      assert.equal(await redis.zscore(dueKey(shardOf(code)), code), null);
    });
  });
  describe("outlives trouble of the store", () => {
    it("sends nothing of a worker that counts as dead and whose heartbeat is on another node", async () => {
      const metrics = createMetrics().rooms("lobby");
      const own = { keys: lobbyKeyspace, redis, metrics, timing: systemTiming };
      const apart = new Journal({ ...own, counted: null, isConfirmedAlive: () => false });
      const result = await commit(change(), apart);
      assert.equal(result, "silent");
      assert.ok(apart.provesUnsent(result));
      assert.ok(!apart.provesUnsent("failed"), "it may be in Redis");
      assert.deepEqual(await redis.keys("*ABCDEF"), []);
    });

    it("takes nothing of a worker that the store has not heard of for so long that another may have had the shard", async () => {
      const deadMs = 60_000;
      const counted = { nodeId: "w1", deadMs };
      const metrics = createMetrics().rooms("lobby");
      const watched = new Journal({
        keys: lobbyKeyspace,
        redis,
        metrics,
        timing: systemTiming,
        counted,
        isConfirmedAlive: () => true,
      });
      const heartbeatKeys = [workersKey, leavingKey, portsKey];
      const heartbeat = (isNew: 0 | 1) =>
        runScript(redis, "heartbeat", heartbeatKeys, ["w1", deadMs, 0, isNew, ""]);
      assert.equal(await commit(change(), watched), "silent");
      assert.ok(!watched.provesUnsent("silent"), "Redis may answer a second try");
      await redis.zadd(workersKey, Date.now() - deadMs - 1, "w1");
      assert.equal(await commit(change(), watched), "silent");
      // It is registered again only after it reports that it has released everything.
      assert.deepEqual(await heartbeat(0), [0, [], [], "", []]);
      assert.equal(await commit(change(), watched), "silent");
      assert.deepEqual(await redis.keys("*ABCDEF"), []);
      const [known, live, leaving] = (await heartbeat(1)) as unknown[];
      assert.deepEqual({ known, live, leaving }, { known: 0, live: ["w1"], leaving: [] });
      assert.equal(await commit(change(), watched), "committed");
    });

    it("works after the store forgot its scripts", async () => {
      await redis.script("FLUSH");
      assert.equal(await commit(change()), "committed");
    });

    it("reports a store that is away as a failure", async () => {
      const away = connectRedis("unix:///nowhere/redis.sock", silentLogger, "away");
      const lost = new Journal({
        keys: lobbyKeyspace,
        redis: away,
        metrics: createMetrics().rooms("lobby"),
        timing: systemTiming,
        counted: null,
        isConfirmedAlive: () => true,
      });
      assert.equal(await commit(change(), lost), "failed");
      away.disconnect();
    });
  });
});

describe("the log of a lobby", () => {
  it("has an end from its first message on, as the lobby has", async () => {
    const stores = await testStores();
    const redis = connectRedis(stores.redisUrl, silentLogger, "test");
    const { lobbies } = await newMember(stores.redisUrl);
    try {
      bodyOf(await lobbies.ask(code, createCommand(code, [1])));
      const seat = { id: 2, name: "P2", accountId: null, avatarUrl: null };
      bodyOf(await lobbies.ask(code, { type: "join", seat, ...by(2) }));
      const leftMs = (key: string) => redis.pttl(key);
      assert.ok((await leftMs(eventStreamKey(code))) > 0);
      assert.ok((await leftMs(eventStreamKey(code))) >= (await leftMs(lobbyKey(code))));
    } finally {
      await lobbies.stop();
      redis.disconnect();
      await stores.stop();
    }
  });
});
