import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Redis } from "ioredis";
import { shardOf } from "../../actors/log/keys.ts";
import { runScript, type ScriptName } from "../../actors/log/scripts.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { connectRedis, redisReady } from "../../server/platform/redis/redis.ts";
import { testStores, type TestStores } from "../support/stores.ts";
import { createChoices, type Choices } from "../support/random.ts";
import { ModelRedis } from "./model-redis.ts";
import { codes, shards } from "./openings.ts";
import {
  dueKey,
  eventStreamKey,
  historyKey,
  lobbyKey,
  ownerKey,
  ownersKey,
  epochKey,
  eventChannel,
  publicListKey,
  publicOrderKey,
  unlistedKey,
  leavingKey,
  portsKey,
  workersKey,
} from "../support/lobby-keys.ts";

/** Maximum heartbeat age, much longer than the time between two steps of the test. */
const deadMs = 600_000;
const workers = ["w1", "w2", "w3"];

interface Call {
  name: ScriptName;
  keys: string[];
  args: (string | number)[];
}

/** A random call; `seen` contains the owner records and versions, so that many calls succeed. */
function randomCall(random: Choices, model: ModelRedis): Call {
  const i = random.between(0, codes.length - 1);
  const [code = "", shard = 0] = [codes[i], shards[i]];
  const record = random.is(0.9) ? (model.get(ownerKey(shard)) ?? "") : "w9|9";
  const worker = random.pick(workers);
  switch (
    random.pick([
      ...([
        "commit",
        "commit",
        "commit",
        "claim",
        "release",
        "mark-intact",
        "continue-history",
      ] as const),
      ...(["is-intact", "heartbeat", "alive", "index-entry"] as const),
    ])
  ) {
    case "claim": {
      const keys = [ownerKey, epochKey, dueKey, historyKey, ownersKey].map((key) => key(shard));
      const args = [record, worker, random.between(0, 1), "started", `http-0@${worker}`, 8];
      return { name: "claim", keys, args };
    }
    case "mark-intact": {
      const keys = [ownerKey(shard), historyKey(shard), lobbyKey(code)];
      const stamp = random.is(0.7) ? (model.hget(lobbyKey(code), "v") ?? "") : "0 other";
      return { name: "mark-intact", keys, args: [record, random.between(0, 1), stamp] };
    }
    case "continue-history":
      return {
        name: "continue-history",
        keys: shards.map(historyKey),
        args: [random.is(0.5) ? "earlier" : "none"],
      };
    case "is-intact":
      return { name: "is-intact", keys: [historyKey(shard)], args: [] };
    case "release":
      return { name: "release", keys: [ownerKey(shard)], args: [record] };
    case "heartbeat":
      return {
        name: "heartbeat",
        keys: [workersKey, leavingKey, portsKey],
        args: [
          ...[worker, deadMs, random.is(0.2) ? 1 : 0, random.between(0, 1)],
          random.is(0.5) ? "" : 8080 + random.between(1, 2),
        ],
      };
    case "alive":
      return {
        name: "alive",
        keys: [workersKey],
        args: [deadMs, ...workers.slice(0, random.between(1, 3))],
      };
    case "index-entry": {
      const entry = random.is(0.3) ? "" : `{"n":${random.between(1, 9)}`;
      const seq = entry === "" && random.is(0.3) ? "" : random.between(1, 9);
      const args = [code, seq, random.between(1, 3), entry, 60_000, random.pick(["", "lobbies"])];
      return {
        name: "index-entry",
        keys: [publicListKey, publicOrderKey, unlistedKey(code)],
        args,
      };
    }
    default: {
      // Rooms that commit in the same turn share the script.
      const rooms = random.is(0.3) ? codes : [code];
      const records = rooms.map((one) =>
        one === code ? record : (model.get(ownerKey(shardOf(one))) ?? ""),
      );
      return {
        name: "commit",
        keys: [
          ...rooms.flatMap((one) => commitKeys(one, shardOf(one))),
          ...(random.is(0.5) ? [workersKey] : []),
        ],
        args: [
          ...[worker, deadMs, 256],
          ...rooms.flatMap((one, n) => commitArgs(random, model, one, records[n] ?? "")),
        ],
      };
    }
  }
}

const commitKeys = (code: string, shard: number) => [
  ownerKey(shard),
  lobbyKey(code),
  eventStreamKey(code),
  dueKey(shard),
];

function commitArgs(random: Choices, model: ModelRedis, code: string, token: string): string[] {
  const stored = model.hget(lobbyKey(code), "v") ?? "";
  const version = Number.parseInt(stored || "0", 10) - (random.is(0.2) ? 1 : 0);
  const expected = random.is(0.2) ? `${version} c1` : stored;
  const newest = model.streams.get(eventStreamKey(code))?.at(-1)?.[0] ?? 0;
  // Sometimes the event id already exists.
  const last = newest > 0 && random.is(0.1) ? newest - 1 : newest;
  const events = random.between(0, 2);
  const removed = random.is(0.3) ? [`f${random.between(0, 4)}`] : [];
  const parts = [
    ...[token, expected, `${version + 1} c${random.between(1, 3)}`, code, eventChannel(code)],
    ...[random.is(0.5) ? 60_000 : "", random.pick(["", "-", 5, 7])],
    ...[1, removed.length, events],
    ...[`f${random.between(0, 4)}`, random.between(0, 99)],
    ...removed,
  ];
  const messages = Array.from({ length: events }, (_, n) => [
    `${last + n + 1}-0`,
    `${last + n + 1}\n"event ${n}"`,
  ]);
  return [...parts.map(String), ...messages.flat()];
}

/** The whole content of a Redis except the times of the workers' last heartbeats. */
async function contents(redis: Redis): Promise<unknown> {
  const list = [];
  for (const [i, code] of codes.entries()) {
    const shard = shards[i] ?? 0;
    list.push(await redis.mget(ownerKey(shard), epochKey(shard)));
    list.push(await redis.hgetall(lobbyKey(code)));
    list.push(
      (await redis.xrange(eventStreamKey(code), "-", "+")).map(([id, [, d]]) => `${id} ${d}`),
    );
    list.push(await redis.zrange(dueKey(shard), "0", "-1", "WITHSCORES"));
    list.push((await redis.pttl(lobbyKey(code))) > 0);
    list.push(await redis.get(unlistedKey(code)), await redis.get(historyKey(shard)));
  }
  list.push((await redis.zrange(workersKey, "0", "-1")).sort(), await redis.hgetall(publicListKey));
  list.push(await redis.zrange(publicOrderKey, "0", "-1", "WITHSCORES"));
  return list;
}

function modelContents(model: ModelRedis): unknown {
  const scores = (key: string) => model.zrange(key).flatMap(([name, at]) => [name, String(at)]);
  const list: unknown[] = codes.flatMap((code, i) => {
    const shard = shards[i] ?? 0;
    return [
      [model.get(ownerKey(shard)), model.get(epochKey(shard))],
      model.hgetall(lobbyKey(code)),
      (model.streams.get(eventStreamKey(code)) ?? []).map(([id, text]) => `${id}-0 ${text}`),
      scores(dueKey(shard)),
      model.hashes.has(lobbyKey(code)) && model.ttls.has(lobbyKey(code)),
      model.get(unlistedKey(code)),
      model.get(historyKey(shard)),
    ];
  });
  list.push(
    model
      .zrange(workersKey)
      .map(([name]) => name)
      .sort(),
  );
  list.push(model.hgetall(publicListKey), scores(publicOrderKey));
  return list;
}

describe("the model of the store", () => {
  let stores: TestStores;
  let redis: Redis;

  before(async () => {
    stores = await testStores();
    redis = connectRedis(stores.redisUrl, silentLogger, "model");
    await redisReady(redis);
  });
  after(async () => {
    redis.disconnect();
    await stores.stop();
  });

  it("answers 10,000 calls of scripts as the real one does, and holds the same afterwards", async () => {
    const verdicts = new Set<string>();
    for (let seed = 1; seed <= 100; seed++) {
      await redis.flushall();
      const random = createChoices(seed);
      const model = new ModelRedis(() => Date.now(), { keepsScripts: true });
      model.history = /master_replid:(\w+)/.exec(await redis.info("replication"))?.[1] ?? "";
      for (let step = 0; step < 100; step++) {
        if (random.is(0.1)) {
          const note = [
            historyKey(random.pick(shards)),
            `earlier ${random.between(0, 2)}`,
          ] as const;
          model.set(...note);
          await redis.set(...note);
        }
        const { name, keys, args } = randomCall(random, model);
        const real = await runScript(redis, name, keys, args);
        const modelled = model.run(name, keys.length, [...keys, ...args]);
        if (name === "commit") for (const verdict of String(real)) verdicts.add(verdict);
        const sorted = (reply: unknown) =>
          name === "heartbeat" && Array.isArray(reply) ? reply.flat().map(String).sort() : reply;
        assert.deepEqual(
          sorted(modelled),
          sorted(real),
          `seed ${seed} step ${step}: ${name} ${args.join(" ")}`,
        );
      }
      assert.deepEqual(modelContents(model), await contents(redis), `seed ${seed}`);
    }
    assert.deepEqual([...verdicts].sort(), ["a", "c", "f", "r", "s", "v"]);
  });
});
