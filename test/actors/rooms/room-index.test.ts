import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Redis } from "ioredis";
import type { Lobby } from "../../../actors/lobby/types.ts";
import { shardOf } from "../../../actors/log/keys.ts";
import { lobbyIndex } from "../../../actors/lobby/index-entry.ts";
import { RoomIndex } from "../../../actors/log/room-index.ts";
import { silentLogger } from "../../../server/platform/log/logger.ts";
import { connectRedis, redisReady } from "../../../server/platform/redis/redis.ts";
import { prepare } from "../../faults/openings.ts";
import { testStores, type TestStores } from "../../support/stores.ts";
import { context } from "./fleet.ts";
import { code, LobbyFleet, setPrompt } from "./lobby-fleet.ts";
import { ownerKey, publicListChannel, publicListKey } from "../../support/lobby-keys.ts";

describe("the public list written by two owners of a lobby", () => {
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

  const opening = { mode: "coop", questions: 3, isStarted: true, version: 3 } as const;
  const lobbyAt = (seq: number, change: Partial<Lobby> = {}): Lobby => ({
    ...(JSON.parse(prepare(code, opening).state) as Lobby),
    seq,
    ...change,
  });
  const privately = { settings: { ...lobbyAt(0).settings, visibility: "private" } } as const;
  const isListed = async () => (await redis.hexists(publicListKey, code)) === 1;

  it("has no lobby that finished, whatever an earlier owner still writes", async () => {
    const listing = new RoomIndex(redis, lobbyIndex(context));
    await listing.refresh(code, lobbyAt(5));
    assert.ok(await isListed());
    await listing.refresh(code, lobbyAt(7, { status: "finished" }));
    await listing.refresh(code, lobbyAt(6));
    assert.ok(!(await isListed()));
  });

  it("has a lobby that is public again, whatever an earlier owner still removes", async () => {
    const listing = new RoomIndex(redis, lobbyIndex(context));
    await listing.refresh(code, lobbyAt(8, privately));
    await listing.refresh(code, lobbyAt(9));
    await listing.refresh(code, lobbyAt(8, privately));
    assert.ok(await isListed());
    await listing.remove(code);
    assert.ok(!(await isListed()), "one that is not there any more goes whatever its number was");
  });

  it("announces what changed it, and nothing that an earlier owner wrote too late", async () => {
    const listing = new RoomIndex(redis, lobbyIndex(context));
    const listener = connectRedis(stores.redisUrl, silentLogger, "listener");
    await redisReady(listener);
    let announced = 0;
    listener.on("message", () => (announced += 1));
    await listener.subscribe(publicListChannel);
    const after = async (work: Promise<void> | null) => {
      await work;
      // Its response comes after every announcement.
      await listener.subscribe(publicListChannel);
      return announced;
    };
    assert.equal(await after(listing.refresh(code, lobbyAt(11))), 1);
    assert.equal(await after(listing.refresh(code, lobbyAt(10))), 1);
    const opened = { type: "question_opened", at: 0 };
    assert.equal(await after(listing.update(code, lobbyAt(12), [opened])), 1);
    assert.equal(await after(listing.remove(code)), 2);
    assert.equal(await after(listing.remove(code)), 2);
    listener.disconnect();
  });
});

it("the public list shows nothing of a lobby that is not committed, while it is put right", async () => {
  const fleet = new LobbyFleet();
  const members = [await fleet.member("w1"), await fleet.member("w2")];
  await fleet.run(3_000);
  const [owner, nextOwner] = fleet.ownerFirst(members);
  assert.ok(owner && nextOwner);
  await fleet.open(owner);
  fleet.kill(owner);
  while (!fleet.redis.get(ownerKey(shardOf(code)))?.startsWith(nextOwner.name)) await fleet.run(1);
  let asked = 0;
  // Its part of the list is checked after 50 ms.
  const end = fleet.now + 100;
  const readRepeatedly = async () => {
    while (fleet.now < end) {
      const id = `${++asked}`;
      await nextOwner.lobbies.ask(code, setPrompt(id), id);
    }
  };
  const busy = [readRepeatedly(), readRepeatedly(), readRepeatedly()];
  let listed = 0;
  while (fleet.now < end) {
    await fleet.run(0.05);
    const committed = fleet.messages().at(-1)?.seq ?? 0;
    listed = Number.parseInt(fleet.redis.hget(publicListKey, code) ?? "0", 10);
    assert.ok(listed <= committed, `listed at ${listed}, committed up to ${committed}`);
  }
  await fleet.ended(Promise.all(busy));
  assert.ok(listed > 2, "it was written again");
});
