import assert from "node:assert/strict";
import { after, before, test, describe } from "node:test";
import type { SnapshotMessage } from "../../../server/platform/room-source.ts";
import { openStream, type EventStream, type Frame } from "../../support/event-stream.ts";
import { startHubServer, startTestRedis, type HubServer, type TestRedis } from "./hub-server.ts";
import { createLobbyLog, type LobbyLog } from "./lobby-log.ts";
import { eventStreamKey } from "../../support/lobby-keys.ts";

let redis: TestRedis;
let log: LobbyLog;
let hubs: [HubServer, HubServer];

/** Lobbies whose snapshot cannot be read now, and a callback when one is requested. */
const unreadable = new Map<string, () => void>();
const streams = new Set<EventStream>();

async function snapshotOf(code: string): Promise<SnapshotMessage | null> {
  const onRead = unreadable.get(code);
  if (!onRead) return log.snapshotOf(code);
  onRead();
  return new Promise(() => undefined);
}

function follow(hub: HubServer, codes: string[], last: string): EventStream {
  const [first = "", ...further] = codes.map((code) => log.topic(code));
  const also = further.map((topic) => `&also=${encodeURIComponent(topic)}`).join("");
  const stream = openStream(hub.url(first, { last }) + also, { reconnect: false });
  streams.add(stream);
  return stream;
}

const pick: [string, unknown] = ["lobby.pick", {}];

const isOf = (code: string) => (frame: Frame) =>
  (frame.data as { topic: string }).topic === log.topic(code);

const seqsOf = (stream: EventStream, code: string) =>
  stream.frames.filter(isOf(code)).map(({ data }) => (data as { seq: number }).seq);

describe("composed event ids", () => {
  before(async () => {
    redis = await startTestRedis();
    log = createLobbyLog(redis.url);
    const options = { redisUrl: redis.url, snapshotOf };
    hubs = [startHubServer(options), startHubServer(options)];
  });
  after(async () => {
    for (const stream of streams) stream.close();
    await Promise.all(hubs.map((hub) => hub.stop()));
    log.close();
    await redis.stop();
  });

  test("a lobby that cannot be joined yet keeps the sequence number its client sent", async () => {
    const [a, b] = ["WTNAAA", "WTNBBB"];
    await log.publish(a, ...Array.from({ length: 5 }, () => pick));
    await log.publish(b, ...Array.from({ length: 70 }, () => pick));
    const [key, renamed] = [eventStreamKey(b), "aside"];
    await log.redis.rename(key, renamed);
    await log.redis.set(key, "no log, so that it cannot be read");
    const stream = follow(hubs[0], [a, b], "5.70");
    await log.publish(a, pick);
    await stream.waitFor(isOf(a), "what the other lobby has");
    assert.equal(stream.lastEventId, "6.70");
    stream.close();
    await log.redis.rename(renamed, key);
    const again = follow(hubs[1], [a, b], stream.lastEventId ?? "");
    await log.publish(b, pick);
    await again.waitFor(isOf(b), "what was missed");
    assert.deepEqual(seqsOf(again, b), [71]);
  });

  test("a malformed number keeps its position until the gap is sent, and no text gets into an id", async () => {
    const marks = { "-": "-", x: "", "99": "", "": "", "\nid: 9": "", "1234567890123456": "" };
    for (const [n, [given, kept]] of Object.entries(marks).entries()) {
      const [a, b] = [`LSTAA${"ABCDEF"[n]}`, `LSTBB${"ABCDEF"[n]}`];
      await log.publish(a, pick);
      await log.publish(b, pick);
      const asked = new Promise<void>((resolve) => unreadable.set(b, resolve));
      const stream = follow(hubs[0], [a, b], `1.${given}`);
      await asked;
      const seq = await log.publish(a, pick);
      await stream.waitFor(isOf(a), "what the other lobby has");
      assert.deepEqual([stream.lastEventId, seqsOf(stream, a)], [`${seq}.${kept}`, [seq]], given);
      stream.close();
      unreadable.delete(b);
      // Its number may have been reached by another message by now.
      await log.publish(b, ...Array.from({ length: 100 }, () => pick));
      const again = follow(hubs[1], [a, b], stream.lastEventId ?? "");
      await again.waitFor((frame) => frame.event === "lobby.snapshot", "a snapshot");
      const names = again.frames.filter(isOf(b)).map((frame) => frame.event);
      const expected = ["lobby.gap", "lobby.snapshot"].slice(kept === "-" ? 1 : 0);
      assert.deepEqual(names, expected, given);
      again.close();
    }
  });
});
