import assert from "node:assert/strict";
import { after, before, test, describe } from "node:test";
import {
  openStream,
  StreamRefused,
  type EventStream,
  type Frame,
  type StreamOptions,
} from "../../support/event-stream.ts";
import type { HubLimits } from "../../../server/sse/delivery/limits.ts";
import {
  startHubServer,
  startTestRedis,
  type HubServer,
  type HubServerOptions,
  type TestRedis,
} from "./hub-server.ts";
import { createLobbyLog, type LobbyLog } from "./lobby-log.ts";
import { openRaw } from "./raw-stream.ts";
import { eventChannel } from "../../support/lobby-keys.ts";

let redis: TestRedis;
let log: LobbyLog;
const servers = new Set<HubServer>();
const streams = new Set<EventStream>();

function start(
  limits: Partial<HubLimits> = {},
  options: Partial<HubServerOptions> = {},
): HubServer {
  const server = startHubServer({
    redisUrl: redis.url,
    snapshotOf: log.snapshotOf,
    limits: { tickMs: 20, ...limits },
    ...options,
  });
  servers.add(server);
  return server;
}

type Query = Record<string, string | number>;

function follow(
  server: HubServer,
  code: string,
  query: Query = {},
  options: StreamOptions = {},
): EventStream {
  const stream = openStream(server.url(log.topic(code), query), { reconnect: false, ...options });
  streams.add(stream);
  return stream;
}

const isSnapshot = (frame: Frame) => frame.event === "lobby.snapshot";
const isAt = (seq: number) => (frame: Frame) => frame.id === String(seq);
const names = (stream: EventStream) => stream.frames.map((frame) => frame.event);

async function started(server: HubServer, code: string, query: Query = {}): Promise<EventStream> {
  const stream = follow(server, code, query);
  await stream.waitFor(isSnapshot, "snapshot");
  return stream;
}

async function endsOf(server: HubServer, reason: string): Promise<number> {
  const { values } = await server.metrics.hubEnds.get();
  return values.find(({ labels }) => labels.reason === reason)?.value ?? 0;
}

describe("streams of a lobby", () => {
  before(async () => {
    redis = await startTestRedis();
    log = createLobbyLog(redis.url);
  });
  after(async () => {
    for (const stream of streams) stream.close();
    await Promise.all([...servers].map((server) => server.stop()));
    log.close();
    await redis.stop();
  });

  describe("end", () => {
    test("a removed seat gets its removal as the last message and cannot open another stream", async () => {
      const server = start();
      const code = "KCKAAA";
      const [kicked, other] = [
        await started(server, code, { seat: 1 }),
        await started(server, code, { seat: 2 }),
      ];
      const pick: [string, unknown] = ["lobby.pick", {}];
      const removal: [string, unknown] = [
        "lobby.player_removed",
        { player_id: 1, reason: "kicked", lobby: { player_id: 2 } },
      ];
      const final = await log.publish(code, pick, removal, pick, pick);
      await kicked.ended;
      await other.waitFor(isAt(final), "the newest number");
      assert.deepEqual(names(kicked), ["lobby.snapshot", "lobby.pick", "lobby.player_removed"]);
      assert.deepEqual(names(other), [
        "lobby.snapshot",
        "lobby.pick",
        "lobby.player_removed",
        "lobby.pick",
        "lobby.pick",
      ]);
      const resumed = follow(server, code, { seat: 1, last: 1 });
      await resumed.ended;
      assert.deepEqual(names(resumed), ["lobby.player_removed"], "a replay stops there as well");
    });

    test("a seat missing from the snapshot gets no stream", async () => {
      const server = start();
      log.state.set("GNEAAA", { players: [{ id: 2 }] });
      const gone = follow(server, "GNEAAA", { seat: 1 });
      await gone.ended;
      assert.deepEqual(names(gone), []);
      await started(server, "GNEAAA", { seat: 2 });
    });

    test("a lobby that does not exist ends its stream", async () => {
      const server = start();
      log.state.set("NNEAAA", null);
      const stream = follow(server, "NNEAAA", { seat: 1 });
      await stream.ended;
      assert.equal(await endsOf(server, "gone"), 1);
    });

    test("a stream ends when its token expires, by the clock of the process", async () => {
      let nowMs = 1_000_000;
      const server = start({}, { clock: { now: () => nowMs } });
      const short = await started(server, "EXPAAA", { exp: 1_060_000 });
      const long = await started(server, "EXPAAA", { exp: 2_000_000 });
      nowMs = 1_060_000;
      await short.ended;
      assert.equal(await endsOf(server, "expired"), 1);
      const next = await log.publish("EXPAAA", ["lobby.pick", {}]);
      await long.waitFor(isAt(next), "a message on the other stream");
    });

    test("a stream ends some time after the end of its lobby, also when it was opened later", async () => {
      const server = start({ endedGraceMs: 150 });
      const code = "ENDAAA";
      const stream = await started(server, code);
      const final = await log.publish(code, ["lobby.ended", { reason: "completed", lobby: {} }]);
      await stream.waitFor(isAt(final), "the end");
      assert.equal(await endsOf(server, "ended"), 0);
      const late = follow(server, code, { last: final });
      log.state.set(code, { status: "finished" });
      const latest = await started(server, code);
      await Promise.all([stream.ended, late.ended, latest.ended]);
      assert.equal(await endsOf(server, "ended"), 3);
      assert.deepEqual(names(late), []);
    });
  });
  describe("are limited in age and silence", () => {
    test("a stream at its maximum age is closed and resumes with its number", async () => {
      const server = start({ minAgeMs: 80, maxAgeMs: 160 });
      const stream = follow(server, "AGEAAA", {}, { reconnect: true, retryMs: 10 });
      await stream.waitFor(isSnapshot, "snapshot");
      const final = await log.publish("AGEAAA", ["lobby.pick", {}]);
      await stream.waitFor(isAt(final), "message");
      while (stream.connections() < 4) await new Promise((resolve) => setTimeout(resolve, 20));
      const next = await log.publish("AGEAAA", ["lobby.pick", {}]);
      await stream.waitFor(isAt(next), "message after some returns");
      assert.deepEqual(names(stream), ["lobby.snapshot", "lobby.pick", "lobby.pick"]);
      stream.close();
    });

    test("a stream at its maximum age says that its client may reconnect soon", async () => {
      const server = start({ minAgeMs: 300, maxAgeMs: 300 });
      const reader = await openRaw(server.url(log.topic("AGEBBB")));
      await reader.waitForText("lobby.snapshot");
      await reader.waitForText("retry: 250\n\n");
      assert.equal(await endsOf(server, "aged"), 1);
      reader.socket.destroy();
    });

    test("streams opened together do not reach their maximum age together", async () => {
      const server = start({ minAgeMs: 200, maxAgeMs: 1_200 });
      const openedAt = performance.now();
      const ages = await Promise.all(
        Array.from({ length: 30 }, async () => {
          await follow(server, "JTRAAA").ended;
          return performance.now() - openedAt;
        }),
      );
      assert.equal(await endsOf(server, "aged"), 30);
      assert.ok(Math.min(...ages) >= 200);
      const spread = new Set(ages.map((age) => Math.floor(age / 100)));
      assert.ok(spread.size >= 4, `all within ${spread.size} tenths of a second`);
    });

    test("a client that reads nothing for too long is disconnected, even with little to send", async () => {
      const server = start({ maxBlockedMs: 300, maxUnsentBytes: 1e9, replayBufferBytes: 5e7 });
      const code = "BLKAAA";
      const reader = await openRaw(server.url(log.topic(code)));
      await reader.waitForText("lobby.snapshot");
      reader.socket.pause();
      const text = "x".repeat(60_000);
      const messages = Array.from(
        { length: 8 },
        () => ["lobby.pick", { text }] as [string, unknown],
      );
      // Until the kernel's buffer is full.
      for (let n = 0; n < 20; n++) await log.publish(code, ...messages);
      while ((await endsOf(server, "slow")) < 1)
        await new Promise((resolve) => setTimeout(resolve, 20));
      reader.socket.destroy();
    });

    test("a silent stream gets a comment, and a busy one none", async () => {
      const heartbeatMs = 300;
      const server = start({ heartbeatMs });
      const openedAt = performance.now();
      const [silent, busy] = [await started(server, "BEATAA"), await started(server, "BUSYAA")];
      // On a busy machine the stream may have been idle after all, at most since the last publication.
      let silences = 0;
      let busyAt = openedAt;
      const silencesSince = () => Math.floor((performance.now() - busyAt) / heartbeatMs);
      while (silent.comments() < 2) {
        const publishedAt = performance.now();
        const seq = await log.publish("BUSYAA", ["lobby.pick", {}]);
        await busy.waitFor(isAt(seq), "message");
        silences += silencesSince();
        busyAt = publishedAt;
        await new Promise((resolve) => setTimeout(resolve, 30));
      }
      silences += silencesSince();
      assert.ok(busy.comments() <= silences, `${busy.comments()} comments, ${silences} silences`);
    });
  });
  describe("carry complete messages", () => {
    test("player text cannot end a frame or begin a field", async () => {
      const server = start();
      const code = "TXTAAA";
      const name = "a\r\n\r\nid: 9\nevent: x\ndata: \u2028\u0000\u0085 é 😀 \u007f";
      const stream = await started(server, code);
      await log.publish(code, ["lobby.player_joined", { player: { name } }]);
      const final = await log.publish(code, ["lobby.player_joined\n\nid: 7", { player: { name } }]);
      await stream.waitFor(isAt(final), "both messages");
      assert.deepEqual(names(stream), ["lobby.snapshot", "lobby.player_joined", "message"]);
      for (const frame of stream.frames.slice(1))
        assert.deepEqual((frame.data as { data: unknown }).data, { player: { name } });
    });

    test("messages of one commit reach each stream in one write, and retry is sent first", async () => {
      const server = start();
      const code = "WRTAAA";
      const subscribers = await Promise.all(
        Array.from({ length: 30 }, () => openRaw(server.url(log.topic(code)))),
      );
      await Promise.all(subscribers.map((stream) => stream.waitForText("lobby.snapshot")));
      const before = subscribers.map((stream) => stream.chunks.length);
      const final = await log.publish(
        code,
        ...Array.from({ length: 5 }, () => ["lobby.pick", {}] as [string, unknown]),
      );
      await Promise.all(subscribers.map((stream) => stream.waitForText(`id: ${final}\n`)));
      subscribers.forEach((stream, n) => {
        assert.equal(stream.chunks[0], "retry: 2000\n\n");
        assert.equal(stream.chunks.length - (before[n] ?? 0), 1, "one chunk for five messages");
        stream.socket.destroy();
      });
    });
  });
  describe("are limited in memory and number", () => {
    test("a client that reads nothing is disconnected and its memory freed, and other streams continue", async () => {
      const server = start();
      const code = "SLWAAA";
      const observer = await started(server, code);
      const stuck = await Promise.all(
        Array.from({ length: 4 }, () => openRaw(server.url(log.topic(code)))),
      );
      await Promise.all(stuck.map((stream) => stream.waitForText("lobby.snapshot")));
      for (const stream of stuck) stream.socket.pause();
      const text = "x".repeat(30_000);
      let final = 0;
      while ((await endsOf(server, "slow")) < 4) {
        final = await log.publish(
          code,
          ...Array.from({ length: 8 }, () => ["lobby.pick", { text }] as [string, unknown]),
        );
        await observer.waitFor(isAt(final), "the newest number");
        assert.ok(final < 2_000, "60 MB were taken for readers that read nothing");
      }
      const { values } = await server.metrics.hubStreams.get();
      assert.equal(values[0]?.value, 1);
      assert.deepEqual(
        observer.frames.map((frame) => Number(frame.id)),
        Array.from({ length: final + 1 }, (_, n) => n),
      );
      for (const stream of stuck) stream.socket.destroy();
    });

    for (const [how, limits, burst] of [
      ["waits for its socket", { replayBufferBytes: 50_000_000, replayBufferMessages: 2_000 }, 280],
      ["falls behind the replay buffer", { replayBufferBytes: 200_000 }, 40],
    ] as const)
      test(`a slow reader that ${how} gets everything in order`, async () => {
        const server = start({ maxUnsentBytes: 50_000_000, ...limits });
        const code = burst === 280 ? "LATAAA" : "LATBBB";
        const text = "x".repeat(20_000);
        const reader = await openRaw(server.url(log.topic(code)));
        const observer = await started(server, code);
        await reader.waitForText("lobby.snapshot");
        for (let n = 0; n < 2; n++) {
          reader.socket.pause();
          let final = 0;
          for (let sent = 0; sent < burst; sent += 40)
            final = await log.publish(
              code,
              ...Array.from({ length: 40 }, () => ["lobby.pick", { text }] as [string, unknown]),
            );
          await observer.waitFor(isAt(final), "the newest number on the other stream");
          reader.socket.resume();
          await reader.waitForText(`id: ${final}\n`);
        }
        const ids = [...reader.chunks.join("").matchAll(/^id: (\d+)$/gm)].map((match) =>
          Number(match[1]),
        );
        assert.deepEqual(
          ids,
          Array.from({ length: 2 * burst + 1 }, (_, n) => n),
        );
        reader.socket.destroy();
      });

    test("streams beyond the limit of a seat or an address are refused with a retry time", async () => {
      const server = start({ maxStreamsPerSeat: 2 }, { perAddress: 3 });
      const held = [
        await started(server, "LMTAAA", { seat: 11 }),
        await started(server, "LMTAAA", { seat: 11 }),
      ];
      const refused = async (query: Query) => {
        const error: unknown = await follow(server, "LMTAAA", query).ended.catch(
          (reason: unknown) => reason,
        );
        assert.ok(error instanceof StreamRefused);
        assert.equal(error.status, 429);
        assert.match(error.message, /"retry_after":10/);
      };
      await refused({ seat: 11, ip: "10.0.0.9" });
      await started(server, "LMTAAA", { seat: 12 });
      await refused({ seat: 13 });
      await started(server, "LMTAAA", { seat: 13, ip: "10.0.0.9" });
      held[0]?.close();
      while ((await endsOf(server, "client")) < 1)
        await new Promise((resolve) => setTimeout(resolve, 5));
      await started(server, "LMTAAA", { seat: 11 });
    });

    test("a drain closes every stream with a reconnect time, spread over the grace period, and accepts none", async () => {
      const server = start();
      const code = "DRNAAA";
      const all = await Promise.all(
        Array.from({ length: 40 }, () => openRaw(server.url(log.topic(code)))),
      );
      await Promise.all(all.map((stream) => stream.waitForText("lobby.snapshot")));
      const startedAt = performance.now();
      await server.hub.drain(400);
      const tookMs = performance.now() - startedAt;
      assert.ok(tookMs > 150, `${tookMs} ms`);
      const retries = await Promise.all(
        all.map(async (stream) => {
          while (!stream.isEnded())
            await new Promise((resolve) => stream.socket.once("data", resolve));
          return Number(/retry: (\d+)\n\n$/.exec(stream.chunks.join(""))?.[1]);
        }),
      );
      assert.ok(
        retries.every((ms) => ms >= 500 && ms <= 5_000),
        retries.join(),
      );
      assert.ok(new Set(retries).size > 20);
      const late = await openRaw(server.url(log.topic(code)));
      await late.waitForText("retry: ");
      for (const stream of [...all, late]) stream.socket.destroy();
    });

    test("a topic is unsubscribed with its last stream, and not before", async () => {
      const server = start();
      const channel = eventChannel("LNGAAA");
      const subscribers = async () => Number((await log.redis.pubsub("NUMSUB", channel))[1]);
      const first = await started(server, "LNGAAA");
      const second = await started(server, "LNGAAA");
      assert.equal(await subscribers(), 1);
      first.close();
      while ((await endsOf(server, "client")) < 1)
        await new Promise((resolve) => setTimeout(resolve, 5));
      assert.equal(await subscribers(), 1);
      second.close();
      while ((await subscribers()) > 0) await new Promise((resolve) => setTimeout(resolve, 10));
      const final = await log.publish("LNGAAA", ["lobby.pick", {}]);
      const third = follow(server, "LNGAAA", { last: 0 });
      await third.waitFor(isAt(final), "what came while nobody listened");
    });
  });
});
