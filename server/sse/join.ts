import { setImmediate as nextTurn, setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../core/clock.ts";
import { encodeFrame } from "./frames.ts";
import type { Feed } from "./feed.ts";
import type { HubLimits } from "./limits.ts";
import type { LobbySnapshot, LobbyTopic } from "./lobby-topic.ts";
import { chunksOf, isContiguous } from "./repair.ts";
import type { EventStream } from "./stream.ts";

export interface JoinDeps {
  feed: Feed;
  limits: HubLimits;
  clock: Clock;
  onGap: () => void;
  onReplayed: (messages: number) => void;
}

/** A snapshot may be older than what Redis still has; then a newer one is taken. */
const snapshotTries = 3;
const idPattern = /^\d{1,15}$/;

/** Brings a stream to the point from which it follows its topic: replay, or snapshot (HUB-06). */
export class Joiner {
  private readonly deps: JoinDeps;

  constructor(deps: JoinDeps) {
    this.deps = deps;
  }

  /** Rejects when a store is away. */
  async start(stream: EventStream, topic: LobbyTopic, lastEventId: string | null): Promise<void> {
    await topic.ready;
    if (lastEventId === null) return this.snapshot(stream, topic, false);
    if (await this.resume(stream, topic, lastEventId)) return;
    await this.snapshot(stream, topic, true);
  }

  /** Goes on from the stream's own number. */
  async proceed(stream: EventStream, topic: LobbyTopic): Promise<void> {
    if (!(await this.replay(stream, topic))) await this.snapshot(stream, topic, true);
  }

  /** Sends a snapshot, with `lobby.gap` before it when something could not be replayed. */
  async snapshot(stream: EventStream, topic: LobbyTopic, isGap: boolean): Promise<void> {
    let hasGap = isGap;
    for (let attempt = 0; attempt < snapshotTries && !stream.isClosed; attempt++) {
      const snapshot = await topic.snapshot();
      await stream.writable();
      await nextTurn();
      if (stream.isClosed) return;
      if (!snapshot) return stream.end("gone");
      const { isFinished, isPublic, seats } = readSnapshot(snapshot.payload);
      if (stream.isSpectator && !isPublic) return stream.end("removed");
      if (seats && stream.seatId !== null && !seats.includes(stream.seatId)) {
        // The first read may have begun before the seat was taken. Missing in a second one, it was
        // removed between the check of the token and this moment (S14).
        if (attempt > 0) return stream.end("removed");
        continue;
      }
      if (snapshot.seq > topic.last) await topic.repair();
      // Of a store that lost its last moment; following it from there would miss what comes instead.
      if (snapshot.seq > topic.last) {
        await delay(this.deps.limits.repeatMs);
        continue;
      }
      if (stream.isClosed) return;
      this.sendSnapshot(stream, topic, snapshot, hasGap);
      if (isFinished) stream.endIn(this.deps.limits.endedGraceMs, "ended");
      if (await this.replay(stream, topic)) return;
      hasGap = true;
    }
    stream.end("unavailable");
  }

  private async resume(stream: EventStream, topic: LobbyTopic, id: string): Promise<boolean> {
    if (!idPattern.test(id)) return false;
    const seq = Number(id);
    // Another process may have been quicker than our subscription; what Redis does not have is made up.
    if (seq > topic.last) await topic.repair();
    if (seq > topic.last) return false;
    stream.cursor = seq;
    return this.replay(stream, topic);
  }

  /** Sends what the ring no longer has and attaches; false when Redis does not have it either. */
  private async replay(stream: EventStream, topic: LobbyTopic): Promise<boolean> {
    const { feed, limits, onReplayed } = this.deps;
    for (let page = 0; page < limits.maxPages; page++) {
      if (stream.isClosed) return true;
      if (topic.covers(stream.cursor)) {
        topic.attach(stream);
        return true;
      }
      const frames = await feed.read(topic.streamKey, stream.cursor + 1);
      if (frames.length === 0 || !isContiguous(frames, stream.cursor + 1)) return false;
      for (const chunk of chunksOf(frames, limits.maxWriteBytes, stream.isSpectator)) {
        await stream.writable();
        await nextTurn();
        if (stream.isClosed) return true;
        stream.deliver(chunk);
        onReplayed(chunk.count);
      }
    }
    stream.end("slow");
    return true;
  }

  private sendSnapshot(
    stream: EventStream,
    topic: LobbyTopic,
    snapshot: LobbySnapshot,
    isGap: boolean,
  ): void {
    const { seq, payload } = snapshot;
    const frames = [encodeFrame("lobby.snapshot", payload, seq)];
    if (isGap) frames.unshift(encodeFrame("lobby.gap", this.gapPayload(topic, seq), null));
    if (isGap) this.deps.onGap();
    stream.write(Buffer.concat(frames));
    stream.cursor = seq;
  }

  /** Without an id: a client that loses the connection before the snapshot has to come back to a gap. */
  private gapPayload(topic: LobbyTopic, seq: number): string {
    const atMs = this.deps.clock.now();
    return JSON.stringify({ type: "lobby.gap", topic: topic.name, seq, at_ms: atMs, data: {} });
  }
}

interface SnapshotShape {
  data?: { lobby?: { status?: string; visibility?: string; players?: { id: number }[] } };
}

function readSnapshot(payload: string) {
  const { data } = JSON.parse(payload) as SnapshotShape;
  const seats = data?.lobby?.players?.map((player) => player.id) ?? null;
  const isPublic = data?.lobby?.visibility === "public";
  return { isFinished: data?.lobby?.status === "finished", isPublic, seats };
}
