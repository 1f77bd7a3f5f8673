import assert from "node:assert/strict";
import { after, before, test, describe } from "node:test";
import { createRandom } from "../../support/random.ts";
import { setTimeout as delay } from "node:timers/promises";
import { openStream, type EventStream, type Frame } from "../../support/event-stream.ts";
import { startHubServer, startTestRedis, type HubServer, type TestRedis } from "./hub-server.ts";
import { createLobbyLog, type LobbyLog } from "./lobby-log.ts";
import { eventChannel, eventStreamKey } from "../../support/lobby-keys.ts";

let redis: TestRedis;
let log: LobbyLog;
let hubs: [HubServer, HubServer];
const streams = new Set<EventStream>();

function follow(code: string, options: { last?: string; hub?: 0 | 1 } = {}): EventStream {
  const query = options.last === undefined ? {} : { last: options.last };
  const stream = openStream(hubs[options.hub ?? 0].url(log.topic(code), query), {
    reconnect: false,
  });
  streams.add(stream);
  return stream;
}

const idOf = (frame: Frame) => Number(frame.id);
const isAt = (seq: number) => (frame: Frame) => frame.id === String(seq);
const names = (stream: EventStream) => stream.frames.map((frame) => frame.event);

/** Snapshot numbers start a sequence; every later message is one higher than the previous one. */
function assertContiguous(stream: EventStream, from: number | null): void {
  let last = from;
  for (const frame of stream.frames) {
    const { seq } = frame.data as { seq: number };
    if (frame.event === "lobby.gap") continue;
    assert.equal(idOf(frame), seq);
    if (frame.event === "lobby.snapshot") last = seq;
    else assert.equal(seq, (last ?? 0) + 1, `after ${last} comes ${seq}`);
    last = seq;
  }
}

async function flood(code: string, count: number, everyMs: number): Promise<number> {
  let seq = 0;
  for (let n = 0; n < count; n++) {
    const burst = 1 + (n % 3);
    seq = await log.publish(
      code,
      ...Array.from({ length: burst }, () => ["lobby.pick", { n }] as [string, unknown]),
    );
    if (everyMs > 0 && n % 5 === 0) await delay(everyMs);
  }
  return seq;
}

const seed = Number(process.env["ORDER_SEED"] ?? Date.now() % 1_000_000);
const random = createRandom(seed);

describe("the event order of a stream", () => {
  before(async () => {
    redis = await startTestRedis();
    log = createLobbyLog(redis.url);
    const options = { redisUrl: redis.url, snapshotOf: log.snapshotOf };
    hubs = [startHubServer(options), startHubServer(options)];
  });
  after(async () => {
    for (const stream of streams) stream.close();
    await Promise.all(hubs.map((hub) => hub.stop()));
    log.close();
    await redis.stop();
  });

  describe("resumes", resumes);
  describe("recovers from losses", () => {
    test("lost publications are read again when the next one reveals the gap", async () => {
      const code = "HQLAAA";
      const stream = follow(code);
      await stream.waitFor((frame) => frame.event === "lobby.snapshot", "snapshot");
      for (let n = 0; n < 90; n++) await log.publishSilently(code, ["lobby.pick", { n }]);
      const final = await log.publish(code, ["lobby.pick", {}]);
      await stream.waitFor(isAt(final), "the newest number");
      assertContiguous(stream, null);
      assert.equal(stream.frames.length, final + 1);
    });

    test("a gap that was trimmed meanwhile is sent as a gap event and a snapshot on the open stream", async () => {
      const code = "HQTAAA";
      await flood(code, 3, 0);
      const stream = follow(code);
      await stream.waitFor((frame) => frame.event === "lobby.snapshot", "snapshot");
      for (let n = 0; n < 30; n++) await log.publishSilently(code, ["lobby.pick", { n }]);
      await log.redis.xtrim(eventStreamKey(code), "MAXLEN", 5);
      const final = await log.publish(code, ["lobby.pick", {}]);
      await stream.waitFor(isAt(final), "the newest number");
      const next = await log.publish(code, ["lobby.pick", {}]);
      await stream.waitFor(isAt(next), "the next message");
      assertContiguous(stream, null);
      assert.deepEqual(names(stream), [
        "lobby.snapshot",
        "lobby.gap",
        "lobby.snapshot",
        "lobby.pick",
      ]);
    });

    test("a restart of Redis delays messages and loses none", async () => {
      const code = "RSTAAA";
      const first = await flood(code, 10, 0);
      const live = [
        follow(code, { hub: 0 }),
        follow(code, { hub: 1 }),
        follow(code, { last: "4" }),
      ];
      await Promise.all(live.map((stream) => stream.waitFor(isAt(first), "the start")));
      await redis.kill();
      const waiting = follow("RSTBBB");
      await redis.restart();
      // Nothing follows these, so only the read after a new subscription can deliver them.
      const silent = await log.publishSilently(code, ["lobby.pick", {}], ["lobby.pick", {}]);
      await log.redis.call("CLIENT", "KILL", "TYPE", "pubsub");
      await Promise.all(live.map((stream) => stream.waitFor(isAt(silent), "what was lost")));
      const final = await log.publish(code, ["lobby.pick", {}]);
      await Promise.all(live.map((stream) => stream.waitFor(isAt(final), "what followed")));
      live.forEach((stream, n) => assertContiguous(stream, n === 2 ? 4 : null));
      await waiting.waitFor(
        (frame) => frame.event === "lobby.snapshot",
        "a snapshot of the stream opened meanwhile",
      );
    });

    test("a sequence reset after a data loss is sent as a gap event and a snapshot", async () => {
      const code = "BCKAAA";
      await flood(code, 10, 0);
      const stream = follow(code);
      await stream.waitFor((frame) => frame.event === "lobby.snapshot", "snapshot");
      const lost = await log.publish(code, ["lobby.pick", {}]);
      await stream.waitFor(isAt(lost), "the message to be lost");
      await log.redis.xdel(eventStreamKey(code), `${lost}-0`, `${lost - 1}-0`);
      await log.redis.call("CLIENT", "KILL", "TYPE", "pubsub");
      await stream.waitFor((frame) => frame.event === "lobby.gap", "gap");
      await stream.waitFor(isAt(lost - 2), "a snapshot of the older state");
      assert.deepEqual(names(stream), [
        "lobby.snapshot",
        "lobby.pick",
        "lobby.gap",
        "lobby.snapshot",
      ]);
    });

    test("a message announced twice or late is delivered once", async () => {
      const code = "TWCAAA";
      const stream = follow(code);
      await stream.waitFor((frame) => frame.event === "lobby.snapshot", "snapshot");
      const seq = await log.publish(code, ["lobby.pick", {}], ["lobby.pick", {}]);
      await stream.waitFor(isAt(seq), "message");
      for (const late of [seq - 1, seq, seq]) {
        const payload = JSON.stringify({ type: "lobby.pick", seq: late });
        await log.redis.publish(eventChannel(code), `${late}\n${payload}`);
      }
      for (const garbage of ["", "\n", "x\n{}", "-1\n{}", "1e999\n{}", "{}"])
        await log.redis.publish(eventChannel(code), garbage);
      const next = await log.publish(code, ["lobby.pick", {}]);
      await stream.waitFor(isAt(next), "the next message");
      assert.deepEqual(
        stream.frames.map(idOf),
        Array.from({ length: next + 1 }, (_, n) => n),
      );
    });

    test("a number that Redis has and this process has not yet received is not a gap", async () => {
      const code = "AHDAAA";
      await follow(code).waitFor((frame) => frame.event === "lobby.snapshot", "snapshot");
      const ahead = await log.publishSilently(code, ["lobby.pick", {}], ["lobby.pick", {}]);
      const resumed = follow(code, { last: String(ahead) });
      const replayed = follow(code, { last: String(ahead - 1) });
      await replayed.waitFor(isAt(ahead), "the message not heard of");
      const next = await log.publish(code, ["lobby.pick", {}]);
      await Promise.all([resumed, replayed].map((stream) => stream.waitFor(isAt(next), "next")));
      assert.deepEqual(resumed.frames.map(idOf), [next]);
      assert.deepEqual(replayed.frames.map(idOf), [ahead, next]);
    });
  });
});

function resumes(): void {
  test(`every stream sees one run without holes while streams come and go in a flood (ORDER_SEED=${seed})`, async () => {
    const code = "FLDAAA";
    const seen: { stream: EventStream; from: number | null }[] = [];
    const open: EventStream[] = [];
    const publishing = flood(code, 400, 2);
    let isOver = false;
    void publishing.then(() => (isOver = true));
    while (!isOver) {
      const earlier = seen[Math.floor(random() * seen.length)]?.stream;
      const last = random() < 0.6 ? (earlier?.lastEventId ?? undefined) : undefined;
      const hub = random() < 0.5 ? 0 : 1;
      const stream = follow(code, last === undefined ? { hub } : { last, hub });
      seen.push({ stream, from: last === undefined ? null : Number(last) });
      open.push(stream);
      await delay(4);
      // Bounded, because a slow machine would open more streams and become slower still.
      if (random() < 0.4 || open.length > 40)
        open.splice(Math.floor(random() * open.length), 1)[0]?.close();
    }
    const final = await publishing;
    const observer = follow(code);
    await observer.waitFor(isAt(final), "the newest number");
    const end = await log.publish(code, ["lobby.pick", {}]);
    await observer.waitFor(isAt(end), "the last message");
    for (const { stream, from } of seen) assertContiguous(stream, from);
    const alive = seen.filter(({ stream }) => stream.lastEventId === String(end));
    assert.ok(
      seen.length > 20 && alive.length > 5,
      `${alive.length} of ${seen.length} reached the end`,
    );
  });

  test(`a stream resumes at any number on either hub, without a snapshot (ORDER_SEED=${seed})`, async () => {
    const code = "RSMAAA";
    const final = await flood(code, 60, 0);
    for (let n = 0; n < 24; n++) {
      const from = Math.floor(random() * (final + 1));
      const stream = follow(code, { last: String(from), hub: n % 2 === 0 ? 0 : 1 });
      if (from < final) await stream.waitFor(isAt(final), `${final} after ${from}`);
      assertContiguous(stream, from);
      assert.ok(!names(stream).includes("lobby.snapshot") && !names(stream).includes("lobby.gap"));
      assert.equal(stream.frames.length, final - from);
      stream.close();
    }
  });

  test("a resume at the newest number gets only later events", async () => {
    const code = "NEWAAA";
    const final = await flood(code, 5, 0);
    const stream = follow(code, { last: String(final) });
    const observer = follow(code);
    await observer.waitFor(isAt(final), "snapshot");
    // The witness started later, so the first stream follows by now or reads the messages it missed.
    const next = await log.publish(code, ["lobby.pick", {}]);
    await stream.waitFor(isAt(next), "the next message");
    assert.deepEqual(stream.frames.map(idOf), [next]);
  });

  test("a trimmed, unknown or malformed number gets a gap event and then a snapshot", async () => {
    const code = "TRMAAA";
    const final = await flood(code, 120, 0);
    await log.redis.xtrim(eventStreamKey(code), "MAXLEN", 20);
    for (const last of [
      "3",
      String(final + 1),
      "999999999999999",
      "x",
      "-1",
      "1e3",
      "0x1",
      "9".repeat(400),
    ]) {
      const stream = follow(code, { last });
      await stream.waitFor(isAt(final), `a snapshot after ${last.slice(0, 20)}`);
      assert.deepEqual(names(stream), ["lobby.gap", "lobby.snapshot"], last.slice(0, 20));
      assert.deepEqual((stream.frames[0]?.data as { data: unknown } | undefined)?.data, {});
      assert.equal(
        stream.frames[0]?.id,
        null,
        "a lost connection after the gap comes back to a gap",
      );
      stream.close();
    }
  });
}
