import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Redis } from "ioredis";
import { openStream, type EventStream, type Frame } from "../../support/event-stream.ts";
import { eventually } from "../../support/eventually.ts";
import { startProxy, type Proxy } from "../../support/proxy.ts";
import { bodyOf, by, createCommand, newMember, type Member } from "../../actors/rooms/fleet.ts";
import { startHubServer, startTestRedis, type HubServer, type TestRedis } from "./hub-server.ts";
import { eventChannel, eventStreamKey } from "../../support/lobby-keys.ts";

interface Process extends Member {
  hub: HubServer;
  stop(): Promise<void>;
}

let store: TestRedis;
let redis: Redis;
const running = new Set<Process>();
let numLobbies = 0;

/** A worker from the view of its streams: its share of the lobbies, and a hub that follows its commits. */
async function startProcess(redisUrl = store.url): Promise<Process> {
  const member = await newMember(redisUrl);
  const { commits, snapshotOf } = member.lobbies.room;
  const hub = startHubServer({ redisUrl, snapshotOf, commits });
  const one = {
    ...member,
    hub,
    stop: async () => {
      if (!running.delete(one)) return;
      await hub.stop();
      await member.lobbies.stop();
    },
  };
  running.add(one);
  return one;
}

const topicOf = (code: string) => `/games/trivia/lobby/${code}`;

async function openLobby({ lobbies }: Process): Promise<string> {
  const code = `WNX${String.fromCharCode(65 + (numLobbies++ % 26))}AA`;
  bodyOf(await lobbies.ask(code, createCommand(code, [1])));
  return code;
}

function follow({ hub }: Process, code: string): EventStream {
  return openStream(hub.url(topicOf(code)), { reconnect: false });
}

async function join({ lobbies }: Process, code: string, id: number): Promise<void> {
  const seat = { id, name: `P${id}`, accountId: null, avatarUrl: null };
  bodyOf(await lobbies.ask(code, { type: "join", seat, ...by(id) }));
}

const seqOf = ({ data }: Frame) => (data as { seq: number }).seq;
const isSnapshot = ({ event }: Frame) => event === "lobby.snapshot";
const hasJoined = (id: number) => (frame: Frame) =>
  frame.event !== "lobby.snapshot" && JSON.stringify(frame.data).includes(`"P${id}"`);

/** Numbers without a hole, a gap or a repeat. */
function assertComplete({ frames }: EventStream): void {
  const first = frames.findIndex(isSnapshot);
  const seqs = frames.slice(first).map(seqOf);
  assert.deepEqual(
    seqs,
    seqs.map((_, i) => (seqs[0] ?? 0) + i),
  );
}

/** Number of Redis connections subscribed to this lobby. */
async function countSubscribers(code: string): Promise<number> {
  const [, count] = (await redis.pubsub("NUMSUB", eventChannel(code))) as [string, number];
  return Number(count);
}

describe("a stream in the process that owns its lobby", () => {
  before(async () => {
    store = await startTestRedis();
    redis = new Redis(store.url.slice("unix://".length));
  });
  after(async () => {
    await Promise.all([...running].map((one) => one.stop()));
    redis.disconnect();
    await store.stop();
  });

  test("receives its messages without a Redis subscription", async () => {
    const owner = await startProcess();
    const code = await openLobby(owner);
    const stream = follow(owner, code);
    await stream.waitFor(isSnapshot, "snapshot");
    for (const id of [2, 3, 4]) await join(owner, code, id);
    await stream.waitFor(hasJoined(4), "the last to join");
    assertComplete(stream);
    assert.equal(await countSubscribers(code), 0);
    stream.close();
    await owner.stop();
  });

  test("continues without a gap when another process takes over the lobby and returns it", async () => {
    const first = await startProcess();
    const code = await openLobby(first);
    const stream = follow(first, code);
    await stream.waitFor(isSnapshot, "snapshot");
    await join(first, code, 2);
    const second = await startProcess();
    await first.lobbies.handOver();
    await eventually("Redis is followed", async () => (await countSubscribers(code)) === 1);
    await join(second, code, 3);
    await stream.waitFor(hasJoined(3), "who joined at the new owner");
    assertComplete(stream);
    const there = follow(second, code);
    await there.waitFor(isSnapshot, "snapshot at the new owner");
    await join(first, code, 4);
    await Promise.all([stream, there].map((one) => one.waitFor(hasJoined(4), "who joined last")));
    assertComplete(stream);
    assertComplete(there);
    stream.close();
    there.close();
    await first.stop();
    await second.stop();
  });

  test("receives a message whose confirmation was lost, without needing another one", async () => {
    const path = store.url.slice("unix://".length);
    const proxy: Proxy = await startProxy({ path });
    const owner = await startProcess(`redis://127.0.0.1:${proxy.port}`);
    const code = await openLobby(owner);
    const stream = follow(owner, code);
    await stream.waitFor(isSnapshot, "snapshot");
    // Redis commits the join, and the connections break before this process learns of it.
    const stored = await redis.xlen(eventStreamKey(code));
    const held = proxy.holdAnswers('"P2"');
    const joined = join(owner, code, 2);
    await held;
    await eventually("it is stored", async () => (await redis.xlen(eventStreamKey(code))) > stored);
    proxy.cut();
    proxy.release();
    await stream.waitFor(hasJoined(2), "the join");
    await joined;
    assertComplete(stream);
    stream.close();
    await owner.stop();
    await proxy.stop();
  });
});
