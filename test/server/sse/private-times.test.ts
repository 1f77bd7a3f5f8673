import assert from "node:assert/strict";
import { after, before, test, describe } from "node:test";
import { openStream, type EventStream, type Frame } from "../../support/event-stream.ts";
import { startHubServer, startTestRedis, type HubServer, type TestRedis } from "./hub-server.ts";
import { createLobbyLog, type LobbyLog } from "./lobby-log.ts";

let redis: TestRedis;
let log: LobbyLog;
const hubs: HubServer[] = [];
const streams = new Set<EventStream>();

function startHub(): HubServer {
  const limits = { pageMessages: 4 };
  const hub = startHubServer({ redisUrl: redis.url, snapshotOf: log.snapshotOf, limits });
  hubs.push(hub);
  return hub;
}

function follow(hub: HubServer, code: string, query: Record<string, string | number>): EventStream {
  const stream = openStream(hub.url(log.topic(code), query), { reconnect: false });
  streams.add(stream);
  return stream;
}

type Message = [type: string, data: unknown];

type Visibility = "public" | "private";

const settings = (visibility: Visibility): Message => [
  "lobby.settings",
  { changes: { visibility }, lobby: { visibility } },
];

const timer = (visibility: Visibility): Message => [
  "lobby.settings",
  { changes: { timer: 30 }, lobby: { visibility } },
];

const joined = (name: string, visibility: Visibility): Message => [
  "lobby.player_joined",
  { player: { name }, lobby: { prompt: '"visibility":"public"', visibility, players: [{ name }] } },
];

const small: Message = ["lobby.host_disconnect", { host_disconnect: null }];
const pick: Message = ["lobby.pick", { player_id: 1, selected_index: 1 }];
const names = (stream: EventStream) => stream.frames.map((frame) => frame.event);
const isSnapshot = (frame: Frame) => frame.event === "lobby.snapshot";
const both = ["lobby.gap", "lobby.snapshot"];

/** What a spectator receives after reconnecting with `last`: numbers, or gap and snapshot. */
async function resume(hub: HubServer, code: string, last: number, final: number) {
  const stream = follow(hub, code, { spectator: "1", last });
  const isFinal = ({ data }: Frame) => (data as { seq: number }).seq === final;
  await stream.waitFor((frame) => isFinal(frame) && frame.event !== "lobby.gap", "the newest");
  stream.close();
  return stream;
}

/** A long-running process, a new one, and that one again. */
async function everyHub(code: string): Promise<HubServer[]> {
  const warm = startHub();
  await follow(warm, code, { seat: 1 }).waitFor(isSnapshot, "a player's snapshot");
  const cold = startHub();
  return [warm, cold, cold];
}

describe("private periods of a lobby", () => {
  before(async () => {
    redis = await startTestRedis();
    log = createLobbyLog(redis.url);
  });
  after(async () => {
    for (const stream of streams) stream.close();
    await Promise.all(hubs.map((hub) => hub.stop()));
    log.close();
    await redis.stop();
  });

  test("events from before a lobby became public are never sent to a spectator", async () => {
    const code = "PRVAAA";
    log.state.set(code, { visibility: "public" });
    const hubsOfAll = await everyHub(code);
    await log.publish(code, small, joined("Bob", "private"), small, pick, timer("private"), small);
    const opened = await log.publish(code, small, settings("public"));
    const final = await log.publish(code, small, joined("Carol", "public"), timer("public"));
    for (const hub of hubsOfAll) {
      for (let last = 0; last < opened; last++) {
        const stream = await resume(hub, code, last, final);
        assert.deepEqual(names(stream), both, `${last}`);
      }
      for (let last = opened; last < final; last++) {
        const stream = await resume(hub, code, last, final);
        assert.equal(names(stream).length, final - last, `${last}`);
        assert.ok(!names(stream).includes("lobby.gap"));
      }
    }
  });

  test("a lobby that begins with small private messages sends none of them later", async () => {
    const code = "PRVBBB";
    log.state.set(code, { visibility: "public" });
    const hubsOfAll = await everyHub(code);
    await log.publish(code, small, small);
    const final = await log.publish(code, settings("public"), small);
    for (const hub of hubsOfAll)
      for (let last = 0; last < final - 1; last++)
        assert.deepEqual(names(await resume(hub, code, last, final)), both, `${last}`);
  });

  test("a private period between two public ones is a gap for spectators, and not for players", async () => {
    const code = "PRVCCC";
    log.state.set(code, { visibility: "public" });
    const hubsOfAll = await everyHub(code);
    await log.publish(code, small, joined("Ada", "public"), small, small, settings("private"));
    await log.publish(code, small, joined("Bob", "private"), small);
    const opened = await log.publish(code, settings("public"));
    const final = await log.publish(code, small, small);
    for (const hub of hubsOfAll) {
      for (let last = 0; last < opened; last++)
        assert.deepEqual(names(await resume(hub, code, last, final)), both, `${last}`);
      assert.deepEqual(names(await resume(hub, code, opened, final)), [small[0], small[0]]);
      const player = follow(hub, code, { seat: 1, last: 0 });
      await player.waitFor(({ id }) => id === String(final), "the newest");
      assert.equal(names(player).length, final);
      player.close();
    }
  });

  test("a spectator who was disconnected and returns gets a gap event and no private events", async () => {
    const code = "PRVDDD";
    const hub = startHub();
    log.state.set(code, { visibility: "public" });
    const first = follow(hub, code, { spectator: "1" });
    await first.waitFor(isSnapshot, "snapshot");
    const closed = await log.publish(code, small, settings("private"), joined("Bob", "private"));
    await first.ended;
    assert.deepEqual(names(first), ["lobby.snapshot", "lobby.host_disconnect"]);
    const final = await log.publish(code, settings("public"));
    const second = await resume(hub, code, closed - 1, final);
    assert.deepEqual(names(second), both);
    const third = follow(hub, code, { spectator: "1", last: final });
    const next = await log.publish(code, joined("Carol", "public"));
    await third.waitFor(({ id }) => id === String(next), "what follows live");
    assert.deepEqual(names(third), ["lobby.player_joined"]);
  });

  test("settings changes of a lobby that stays public are not a gap", async () => {
    const code = "PRVEEE";
    log.state.set(code, { visibility: "public" });
    const hubsOfAll = await everyHub(code);
    const final = await log.publish(code, timer("public"), settings("public"), small);
    for (const hub of hubsOfAll)
      assert.equal(names(await resume(hub, code, 0, final)).length, final, "all of it");
  });

  test("a number later than the last visibility message does not open a private period", async () => {
    const code = "PRVFFF";
    const hub = startHub();
    log.state.set(code, { visibility: "private" });
    const closed = await log.publish(code, small, settings("private"));
    const stream = follow(hub, code, { spectator: "1", public_at: 1, last: closed });
    await log.publish(code, small);
    await stream.ended;
    assert.deepEqual(names(stream), []);
  });

  test("messages of a private lobby end a spectator stream, from the cache or from Redis", async () => {
    const code = "PRVGGG";
    log.state.set(code, { visibility: "public" });
    const [warm, cold] = await everyHub(code);
    await log.publish(code, small, small, joined("Bob", "private"), small);
    for (const hub of [warm, cold]) {
      assert.ok(hub);
      const stream = follow(hub, code, { spectator: "1", public_at: 1, last: 0 });
      await stream.ended;
      assert.deepEqual(names(stream), [small[0], small[0]]);
    }
  });
});
