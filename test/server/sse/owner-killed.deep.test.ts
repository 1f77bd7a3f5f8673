import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, describe, test } from "node:test";
import { Redis } from "ioredis";
import { shardCount, shardOf } from "../../../actors/log/keys.ts";
import { bodyOf, by, createCommand, newMember, type Member } from "../../actors/rooms/fleet.ts";
import { openStream, type EventStream } from "../../support/event-stream.ts";
import { eventually } from "../../support/eventually.ts";
import { forked } from "../../support/forked.ts";
import { startProxy } from "../../support/proxy.ts";
import { startHubServer, startTestRedis, type HubServer, type TestRedis } from "./hub-server.ts";
import { deadChannel, ownerKey, workersKey } from "../../support/lobby-keys.ts";

const numKills = 20;
/** Fewer than one script accepts, so that all are committed at once. */
const lobbiesPerKill = 50;

const letters = "ABCDEFGH";

let store: TestRedis;
let redis: Redis;
let member: Member;
let hub: HubServer;
let numCodes = 0;

async function ownedBy(nodeId: string): Promise<number> {
  const owners = await redis.mget(Array.from({ length: shardCount }, (_, n) => ownerKey(n)));
  return owners.filter((owner) => owner?.startsWith(`${nodeId}|`)).length;
}

async function codesOf(nodeId: string): Promise<string[]> {
  const codes: string[] = [];
  while (codes.length < lobbiesPerKill) {
    const code = [...(numCodes++).toString(8).padStart(6, "0")]
      .map((n) => letters[Number(n)])
      .join("");
    if ((await redis.get(ownerKey(shardOf(code))))?.startsWith(`${nodeId}|`)) codes.push(code);
  }
  return codes;
}

async function join(code: string): Promise<void> {
  const seat = { id: 2, name: "P2", accountId: null, avatarUrl: null };
  bodyOf(await member.lobbies.ask(code, { type: "join", seat, ...by(2) }, `join ${code}`));
}

const hasJoined = (stream: EventStream) =>
  stream.waitFor(
    ({ event, data }) => event !== "lobby.snapshot" && JSON.stringify(data).includes('"P2"'),
    "the join",
  );

function assertComplete({ frames }: EventStream): void {
  const seqs = frames.map(({ data }) => (data as { seq: number }).seq);
  assert.equal(frames[0]?.event, "lobby.snapshot");
  assert.deepEqual(
    seqs,
    seqs.map((_, n) => (seqs[0] ?? 0) + n),
  );
}

/** Kills an owner after Redis has committed and before it learns of it. */
async function killBetweenCommitAndDelivery(): Promise<void> {
  const proxy = await startProxy({ path: store.url.slice("unix://".length) });
  const url = `redis://127.0.0.1:${proxy.port}`;
  const owner = forked(new URL("../../actors/rooms/member-process.ts", import.meta.url), [url]);
  const [{ nodeId }] = (await once(owner, "message")) as [{ nodeId: string }];
  await eventually("it has its shards", async () => (await ownedBy(nodeId)) > shardCount / 4);
  const codes = await codesOf(nodeId);
  await Promise.all(
    codes.map(async (code) => bodyOf(await member.lobbies.ask(code, createCommand(code, [1])))),
  );
  const streams = codes.map((code) =>
    openStream(hub.url(`/games/trivia/lobby/${code}`), { reconnect: false }),
  );
  await Promise.all(
    streams.map((one) => one.waitFor(({ event }) => event === "lobby.snapshot", "the snapshot")),
  );
  const held = proxy.holdAnswers('"P2"');
  const joined = Promise.all(codes.map(join));
  await held;
  await Promise.all(streams.map(hasJoined));
  const exit = once(owner, "exit");
  owner.kill("SIGKILL");
  await exit;
  await redis.zrem(workersKey, nodeId);
  await redis.publish(deadChannel, nodeId);
  await joined;
  streams.forEach(assertComplete);
  for (const stream of streams) stream.close();
  await proxy.stop();
}

describe("a committed event", () => {
  before(async () => {
    store = await startTestRedis();
    redis = new Redis(store.url.slice("unix://".length));
    member = await newMember(store.url);
    const { snapshotOf, commits } = member.lobbies.room;
    hub = startHubServer({ redisUrl: store.url, snapshotOf, commits });
  });
  after(async () => {
    await hub.stop();
    await member.lobbies.stop();
    redis.disconnect();
    await store.stop();
  });

  test(`reaches other processes when its owner is killed before it knows of the commit, ${numKills * lobbiesPerKill} times`, async () => {
    for (let n = 0; n < numKills; n++) await killBetweenCommitAndDelivery();
  });
});
