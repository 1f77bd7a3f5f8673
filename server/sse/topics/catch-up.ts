import { setImmediate as nextTurn, setTimeout as delay } from "node:timers/promises";
import type { Counter } from "prom-client";
import type { SnapshotMessage } from "../../platform/room-source.ts";
import type { Clock } from "../../platform/time/clock.ts";
import { chunksOf, encodeFrame, isContiguous } from "../stream/frames.ts";
import type { HubLimits } from "../delivery/limits.ts";
import type { RoomTopic } from "./room-topic.ts";
import type { EventStream } from "../stream/stream.ts";
import { lostCursor, unknownCursor, type Subscriber } from "../stream/subscriber.ts";

export interface CatchUpDeps {
  limits: HubLimits;
  clock: Clock;
  /** Gaps, resumed subscriptions and replayed messages. */
  count: Record<"gap" | "resumed" | "replayed", Counter.Internal>;
}

/** Attempts at a snapshot that is not older than the messages left in Redis. */
const snapshotTries = 3;

/** Subscription catch-up: brings a subscriber to the live position of its topic by replay or snapshot (HUB-06). */
export class SubscriptionCatchUp {
  readonly #deps: CatchUpDeps;

  constructor(deps: CatchUpDeps) {
    this.#deps = deps;
  }

  /** Rejects while Redis is down. */
  async start(subscriber: Subscriber, topic: RoomTopic): Promise<void> {
    await topic.ready;
    const { idCursor } = subscriber;
    if (idCursor === unknownCursor) return this.snapshot(subscriber, topic, false);
    if (await this.#resume(subscriber, topic, idCursor)) return this.#deps.count.resumed.inc();
    await this.snapshot(subscriber, topic, true);
  }

  /** Continues from the subscriber's cursor. */
  async proceed(subscriber: Subscriber, topic: RoomTopic): Promise<void> {
    if (!(await this.#replay(subscriber, topic))) await this.snapshot(subscriber, topic, true);
  }

  /** Sends a snapshot, with `<kind>.gap` before it when something could not be replayed. */
  async snapshot(subscriber: Subscriber, topic: RoomTopic, isGap: boolean): Promise<void> {
    const { stream, seatId, isSpectator } = subscriber;
    let hasGap = isGap;
    if (isGap) subscriber.invalidateCursor();
    for (let attempt = 0; attempt < snapshotTries && !stream.isClosed; attempt++) {
      const snapshot = await topic.snapshot();
      await turnToWrite(stream);
      if (stream.isClosed) return;
      if (!snapshot) return stream.end("gone");
      const { isFinished, isPublic, seats } = readSnapshot(snapshot.payload, topic);
      if (isSpectator && !isPublic) return stream.end("removed");
      if (seats && seatId !== null && !seats.includes(seatId)) {
        // The first snapshot may be older than the seat. A seat missing in the second one was removed after the
        // token was checked (S14).
        if (attempt > 0) return stream.end("removed");
        continue;
      }
      if (snapshot.seq > topic.last) await topic.repair();
      // The snapshot is ahead of a Redis that lost its newest messages; attaching there would skip their successors.
      if (snapshot.seq > topic.last) {
        await delay(this.#deps.limits.repeatMs);
        continue;
      }
      if (stream.isClosed) return;
      this.#sendSnapshot(subscriber, topic, snapshot, hasGap);
      if (await this.#replay(subscriber, topic)) {
        if (isFinished) stream.closeSubscription(subscriber);
        return;
      }
      hasGap = true;
    }
    stream.end("unavailable");
  }

  async #resume(subscriber: Subscriber, topic: RoomTopic, idCursor: string): Promise<boolean> {
    if (idCursor === lostCursor) return false;
    const seq = Number(idCursor);
    const newest = Math.max(seq, subscriber.publicAt ?? 0);
    // Another process may have sent messages ahead of our subscription; a number beyond Redis is invented.
    if (newest > topic.last) await topic.repair();
    if (newest > topic.last) return false;
    if (subscriber.publicAt !== null && !(await topic.wasPublic(seq, subscriber.publicAt)))
      return false;
    subscriber.moveTo(seq);
    return this.#replay(subscriber, topic);
  }

  /** Replays messages that left the replay buffer and attaches; false when Redis has trimmed them too. */
  async #replay(subscriber: Subscriber, topic: RoomTopic): Promise<boolean> {
    const { limits, count } = this.#deps;
    const { stream } = subscriber;
    for (let page = 0; page < limits.maxPages; page++) {
      if (stream.isClosed) return true;
      const { cursor } = subscriber;
      if (topic.contains(cursor)) {
        topic.attach(subscriber);
        return true;
      }
      const frames = await topic.readStored(cursor + 1);
      if (frames.length === 0 || !isContiguous(frames, cursor + 1)) return false;
      for (const chunk of chunksOf(frames, limits.maxWriteBytes, subscriber.isSpectator)) {
        await turnToWrite(stream);
        if (stream.isClosed) return true;
        stream.deliver(subscriber, chunk);
        count.replayed.inc(chunk.frames.length);
      }
    }
    stream.end("slow");
    return true;
  }

  #sendSnapshot(
    subscriber: Subscriber,
    topic: RoomTopic,
    snapshot: SnapshotMessage,
    isGap: boolean,
  ): void {
    const { stream } = subscriber;
    const { seq, payload } = snapshot;
    const frames = [encodeFrame(`${topic.kind}.snapshot`, payload, stream.idAt(subscriber, seq))];
    if (isGap) frames.unshift(encodeFrame(`${topic.kind}.gap`, this.#gapPayload(topic, seq), null));
    if (isGap) this.#deps.count.gap.inc();
    stream.write(Buffer.concat(frames));
    subscriber.moveTo(seq);
  }

  /** Has no id: a client that disconnects before the snapshot must reconnect to a gap. */
  #gapPayload(topic: RoomTopic, seq: number): string {
    const atMs = this.#deps.clock.now();
    const type = `${topic.kind}.gap`;
    return JSON.stringify({ type, topic: topic.name, seq, at_ms: atMs, data: {} });
  }
}

/** Waits for an event loop turn outside every handler in which the socket is writable or closed. */
async function turnToWrite(stream: EventStream): Promise<void> {
  do {
    await stream.writable();
    await nextTurn();
  } while (!stream.isWritable && !stream.isClosed);
}

interface SnapshotShape {
  data?: Record<string, { status?: string }>;
}

/** A room whose `status` is `finished` has no further messages. */
function readSnapshot(payload: string, { kind, delivery }: RoomTopic) {
  const { data } = JSON.parse(payload) as SnapshotShape;
  const room = data?.[kind] ?? {};
  return { isFinished: room.status === "finished", ...delivery.snapshot(room) };
}
