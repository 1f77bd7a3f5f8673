import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { Redis } from "ioredis";
import { createRooms, Keyspace } from "../../../../actors/index.ts";
import { kindsKey, shardOf } from "../../../../actors/log/keys.ts";
import { silentLogger } from "../../../../server/platform/log/logger.ts";
import { createMetrics } from "../../../../server/platform/metrics/metrics.ts";
import { connectRedis, redisReady } from "../../../../server/platform/redis/redis.ts";
import { systemClock } from "../../../../server/platform/time/clock.ts";
import { startLocalRedis, type LocalRedis } from "../../../../server/runtime/stores/redis.ts";
import { counterActor, type Command as CounterCommand } from "../../../actors/kinds/counter.ts";
import { bodyOf, by, newMember, startedLobby } from "../../../actors/rooms/fleet.ts";
import { starts } from "../../../support/cleanup.ts";
import { eventStreamKey, historyKey } from "../../../support/lobby-keys.ts";

describe("lobbies in a restarted embedded Redis", () => {
  const code = "AAAAAA";
  let dir: string;
  let redis: LocalRedis;
  const start = async () => {
    const stores = { dataDir: join(dir, "d"), socketDir: join(dir, "s"), log: silentLogger };
    redis = await starts(() => startLocalRedis(stores));
  };
  before(async () => {
    dir = mkdtempSync(join(tmpdir(), "ember-rh-"));
    await start();
  });
  after(async () => {
    await redis.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  /** A separate service makes one change; returns the types of all messages so far. */
  async function change(prompt: number): Promise<string[]> {
    const { lobbies } = await newMember(redis.url);
    if (prompt === 0) await startedLobby(lobbies, code, { seats: [1, 2] });
    else
      bodyOf(await lobbies.ask(code, { type: "pick", selectedIndex: prompt, index: 0, ...by(2) }));
    await lobbies.stop();
    const reader = connectRedis(redis.url, silentLogger, "test");
    await redisReady(reader);
    const entries = await reader.xrange(eventStreamKey(code), "-", "+");
    reader.disconnect();
    const numbers = entries.map(([id]) => Number.parseInt(id, 10));
    const messages = entries.map(([, [, text = ""]]) => /"type":"([^"]+)"/.exec(text)?.[1] ?? "");
    return messages.map((type, i) => ((numbers[i] ?? 0) > 1_000 ? `late ${type}` : type));
  }

  it("continue without a gap after a stop or a kill, and with a gap after a machine failure", async () => {
    const before = await change(0);
    // Twice in a row, because nothing changes the lobby in between.
    for (let n = 0; n < 2; n++) {
      await redis.stop();
      await start();
    }
    assert.deepEqual(await change(1), [...before, "lobby.pick"]);
    await redis.stop();
    await start();
    await redis.kill();
    await start();
    assert.deepEqual(await change(3), [...before, "lobby.pick", "lobby.pick"]);
    await redis.kill();
    const note = join(dir, "d", "history");
    writeFileSync(note, readFileSync(note, "utf8").replace(/^\S+/, "another-start-of-the-machine"));
    await start();
    const gap = ["late lobby.gap", "late lobby.pick"];
    assert.deepEqual(await change(2), [...before, "lobby.pick", "lobby.pick", ...gap]);
    // The history is known from then on.
    assert.deepEqual((await change(1)).slice(-2), ["late lobby.pick", "late lobby.pick"]);
  });

  it("go on without a hole in a Redis of an earlier version, which noted no kinds", async () => {
    const earlier = await change(1);
    const writer = connectRedis(redis.url, silentLogger, "test");
    await redisReady(writer);
    assert.equal(await writer.del(kindsKey), 1);
    writer.disconnect();
    await redis.kill();
    await start();
    assert.deepEqual(await change(2), [...earlier, "late lobby.pick"]);
  });

  it("are claimed by no process before the data is verified as complete", async () => {
    for (let n = 0; n < 5; n++) {
      await redis.kill();
      const earlyReader = new Redis({
        path: redis.url.replace("unix://", ""),
        enableReadyCheck: false,
        retryStrategy: () => 0,
      });
      earlyReader.on("error", () => {});
      const first = new Promise<[string | null, string]>((resolve, reject) => {
        earlyReader.once("ready", () => {
          Promise.all([earlyReader.get(historyKey(shardOf(code))), earlyReader.info("replication")])
            .then(resolve, reject)
            .finally(() => earlyReader.disconnect());
        });
      });
      await start();
      const [note, info] = await first;
      assert.equal(note?.split(" ")[0], /master_replid:(\w+)/.exec(info)?.[1]);
    }
  });
});

describe("a second kind of actor in a restarted embedded Redis", () => {
  const code = "CNTAAA";
  let dir: string;
  let redis: LocalRedis;
  const start = async () => {
    const folders = { dataDir: join(dir, "d"), socketDir: join(dir, "s") };
    redis = await starts(() => startLocalRedis({ ...folders, log: silentLogger }));
  };
  before(async () => {
    dir = mkdtempSync(join(tmpdir(), "ember-rc-"));
    await start();
  });
  after(async () => {
    await redis.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  /**
   * A separate service executes one command; returns the types of all messages so far, without skipped
   * turns.
   */
  async function change(command: CounterCommand): Promise<string[]> {
    const counters = await createRooms(
      counterActor(async () => undefined),
      {
        ...{ redisUrl: redis.url, log: silentLogger, clock: systemClock },
        ...{ metrics: createMetrics(), topicBase: "/games" },
      },
    );
    const reply = await counters.ask(code, command);
    assert.ok(reply.ok);
    await counters.stop();
    const reader = connectRedis(redis.url, silentLogger, "test");
    await redisReady(reader);
    const entries = await reader.xrange(new Keyspace("counter:").stream(code), "-", "+");
    reader.disconnect();
    const types = entries.map(([, [, text = ""]]) => /"type":"([^"]+)"/.exec(text)?.[1] ?? "");
    return types.filter((type) => type !== "counter.skipped");
  }

  it("continues without a gap", async () => {
    assert.deepEqual(await change({ type: "open" }), []);
    assert.deepEqual(await change({ type: "count", by: 1 }), ["counter.counted"]);
    await redis.kill();
    await start();
    const counted = ["counter.counted", "counter.counted"];
    assert.deepEqual(await change({ type: "count", by: 2 }), counted);
  });
});
