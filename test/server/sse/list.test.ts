import assert from "node:assert/strict";
import { after, before, test, describe } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { Redis } from "ioredis";
import { eventually } from "../../support/eventually.ts";
import { openStream, type EventStream } from "../../support/event-stream.ts";
import { startHubServer, startTestRedis, type HubServer, type TestRedis } from "./hub-server.ts";

const topic = "/games/trivia/lobbies";
let redis: TestRedis;
let publisher: Redis;
const servers: HubServer[] = [];
const streams: EventStream[] = [];

interface ListMessage {
  type: string;
  topic: string;
  at_ms: number;
  data: { lobbies: { n: number }[] };
}

function startList(publicList: () => Promise<string>, listIntervalMs: number): HubServer {
  const limits = { listIntervalMs };
  const snapshotOf = async () => null;
  const server = startHubServer({ redisUrl: redis.url, snapshotOf, publicList, limits });
  servers.push(server);
  return server;
}

function follow(server: HubServer): EventStream {
  const stream = openStream(server.url(topic), { reconnect: false });
  streams.push(stream);
  return stream;
}

const numbers = (stream: EventStream) =>
  stream.frames.map((frame) => (frame.data as ListMessage).data.lobbies[0]?.n);

const shows = (n: number) => (frame: { data: unknown }) =>
  (frame.data as ListMessage).data.lobbies[0]?.n === n;

describe("the stream of the lobby list", () => {
  before(async () => {
    redis = await startTestRedis();
    publisher = new Redis({ path: redis.url.slice("unix://".length), retryStrategy: () => 50 });
    publisher.on("error", () => undefined);
  });
  after(async () => {
    for (const stream of streams) stream.close();
    await Promise.all(servers.map((server) => server.stop()));
    publisher.disconnect();
    await redis.stop();
  });

  test("the list is sent first, then at most once per interval, and the last change is never lost", async () => {
    let n = 0;
    let reads = 0;
    const intervalMs = 200;
    const before_ = Date.now();
    const server = startList(async () => {
      reads += 1;
      return JSON.stringify([{ n }]);
    }, intervalMs);
    const stream = follow(server);
    await stream.waitFor(shows(0), "the list on subscribing");
    const startedAt = performance.now();
    while (stream.frames.length < 5) {
      n += 1;
      await publisher.publish("lobbies", "");
      await delay(5);
    }
    await stream.waitFor(shows(n), "the last change");
    const mostFrames = Math.ceil((performance.now() - startedAt) / intervalMs) + 2;
    assert.ok(stream.frames.length <= mostFrames, `${stream.frames.length} frames`);
    const oneFrameOfEachRead = () => reads === stream.frames.length;
    await eventually("each read is sent", oneFrameOfEachRead);
    for (const frame of stream.frames) {
      const message = frame.data as ListMessage;
      assert.deepEqual(
        [frame.id, frame.event, message.type, message.topic],
        [null, "lobbies.updated", "lobbies.updated", topic],
      );
      assert.ok(message.at_ms >= before_ && message.at_ms <= Date.now());
    }
    const late = follow(server);
    await late.waitFor(shows(n), "the list for a later subscriber");
    await eventually("one read serves all subscribers", oneFrameOfEachRead);
  });

  test("a change after a quiet period is sent immediately", async (t) => {
    let n = 0;
    // Longer than the test waits for a message.
    const intervalMs = 200_000;
    const server = startList(async () => JSON.stringify([{ n }]), intervalMs);
    const stream = follow(server);
    await stream.waitFor(shows(0), "the list");
    const now = performance.now.bind(performance);
    t.mock.method(performance, "now", () => now() + intervalMs);
    n = 1;
    await publisher.publish("lobbies", "");
    await stream.waitFor(shows(1), "the change");
  });

  test("a failed read is retried, and a lost announcement is recovered", async () => {
    let n = 0;
    let failures = 2;
    const server = startList(async () => {
      if (failures-- > 0) throw new Error("away");
      return JSON.stringify([{ n }]);
    }, 20);
    const stream = follow(server);
    await stream.waitFor(shows(0), "the list after two failures");
    n = 1;
    await publisher.call("CLIENT", "KILL", "TYPE", "pubsub");
    await stream.waitFor(shows(1), "the state after the lost connection");
    assert.deepEqual(numbers(stream).at(-1), 1);
  });

  test("a thousand subscribers all receive a broadcast", async () => {
    let n = 0;
    const server = startList(async () => JSON.stringify([{ n }]), 20);
    const many = Array.from({ length: 1_000 }, () => follow(server));
    await Promise.all(many.map((stream) => stream.waitFor(shows(0), "the list")));
    n = 1;
    await publisher.publish("lobbies", "");
    await Promise.all(many.map((stream) => stream.waitFor(shows(1), "the change")));
    for (const stream of many) assert.deepEqual(numbers(stream), [0, 1]);
  });
});
