import assert from "node:assert/strict";
import { test } from "node:test";
import type { HttpResponse } from "../../../server/http/uws/uws.ts";
import { hubLimits } from "../../../server/sse/delivery/limits.ts";
import { EventStream, type EndReason } from "../../../server/sse/stream/stream.ts";

const { maxPieceBytes, maxBlockedMs, endedGraceMs } = hubLimits;
const longText = Buffer.from(
  Array.from({ length: 100_000 }, (_, n) => `data: ${n}\n`).join("") + "\n",
);

/**
 * A complete message is followed by an empty line, which ends its HTTP chunk; there is none in the middle.
 */
const ended = (...parts: Buffer[]) => Buffer.concat([...parts, Buffer.from("\n")]);

/** A socket whose kernel buffers this many bytes. */
function openSlow(room: number) {
  const written: Buffer[] = [];
  const ends: EndReason[] = [];
  let state: "open" | "ended" | "closed" = "open";
  let kept = 0;
  let onWritable: (offset: number) => boolean = () => true;
  const raw = {
    cork: (work: () => void) => work(),
    write(bytes: Buffer) {
      written.push(bytes);
      kept += bytes.length;
      return kept <= room;
    },
    onWritable: (listener: typeof onWritable) => void (onWritable = listener),
    end: () => void (state = "ended"),
    close: () => void (state = "closed"),
  };
  const stream = new EventStream(
    {
      topics: [
        { topic: { kind: "list", list: "lobbies", name: "list" }, seatId: null, publicAt: null },
      ],
      lastEventId: null,
      expiresAt: null,
      ip: "",
    },
    { raw: raw as unknown as HttpResponse, onClose: () => undefined },
    {
      limits: hubLimits,
      onWritable: () => undefined,
      onDeliver: () => undefined,
      onSubscriptionClosed: () => undefined,
      onEnd: (_, reason) => void ends.push(reason),
    },
  );
  const [subscriber] = stream.subscribers;
  assert.ok(subscriber);
  subscriber.catchUpBy = null;
  return {
    stream,
    subscriber,
    ends,
    received: () => Buffer.concat(written),
    kept: () => kept,
    state: () => state,
    /** The client reads everything buffered for it. */
    read() {
      kept = 0;
      onWritable(0);
    },
    /** The stream is checked this long after the last write. */
    lookIn: (ms: number) => stream.check(performance.now() + ms, Date.now()),
  };
}

test("a client that keeps reading a long message gets all of it and then the end, however long that takes", () => {
  const { stream, subscriber, ...socket } = openSlow(maxPieceBytes / 2);
  stream.write(longText);
  stream.closeSubscription(subscriber);
  let reads = 0;
  for (; !stream.isWritable; reads++) {
    socket.lookIn(Math.min(maxBlockedMs - 100, endedGraceMs + 100));
    assert.equal(socket.state(), "open", `after ${reads} reads`);
    assert.ok(socket.kept() <= maxPieceBytes, "no more is kept for it than a piece");
    socket.read();
  }
  assert.ok(reads * maxBlockedMs > 2 * endedGraceMs, `${reads} reads`);
  assert.deepEqual(socket.received(), ended(longText));
  socket.lookIn(endedGraceMs + 100);
  assert.deepEqual([socket.state(), socket.ends], ["ended", ["ended"]]);
});

test("a client that reads nothing of it is disconnected after a timeout, also when the stream is about to end", () => {
  const { stream, subscriber, ...socket } = openSlow(maxPieceBytes / 2);
  stream.write(longText);
  stream.closeSubscription(subscriber);
  socket.read();
  socket.lookIn(endedGraceMs + maxBlockedMs);
  assert.deepEqual([socket.state(), socket.ends], ["closed", ["slow"]]);
});

test("a removed seat does not receive the rest of a long message", () => {
  const { stream, ...socket } = openSlow(maxPieceBytes / 2);
  stream.write(longText);
  stream.endIn(hubLimits.removalGraceMs, "removed");
  socket.read();
  socket.lookIn(hubLimits.removalGraceMs + 100);
  assert.deepEqual([socket.state(), socket.ends], ["closed", ["removed"]]);
});

test("a stream at its maximum age ends even inside a long message, and its client resumes", () => {
  const { stream, ...socket } = openSlow(maxPieceBytes / 2);
  stream.write(longText);
  socket.lookIn(hubLimits.maxAgeMs);
  assert.deepEqual([socket.state(), socket.ends], ["closed", ["aged"]]);
});

test("events written after a long message arrive after it", () => {
  const { stream, ...socket } = openSlow(maxPieceBytes / 2);
  const short = Buffer.from("data: short\n\n");
  stream.write(longText);
  stream.write(short);
  while (!stream.isWritable) socket.read();
  assert.deepEqual(socket.received(), ended(longText, short));
  assert.equal(socket.state(), "open");
});

test("a fast client gets a long message immediately", () => {
  const { stream, ...socket } = openSlow(Number.POSITIVE_INFINITY);
  stream.write(longText);
  assert.ok(stream.isWritable);
  assert.deepEqual(socket.received(), ended(longText));
});
