import type { Connection } from "../storage/connection.ts";
import type { Keyspace } from "../storage/keys.ts";
import { runScript } from "../storage/scripts.ts";
import type { Timing } from "../timing.ts";

/** Timings of liveness and placement, in milliseconds (design: heartbeat the worker, fence the shard). */
export interface ShardTimings {
  heartbeatMs: number;
  /** Silence after which the others call a worker dead. */
  deadMs: number;
  /** Age of the last heartbeat up to which reads are served without asking the store. */
  freshMs: number;
  reloadMs: number;
}

export const defaultTimings: ShardTimings = {
  heartbeatMs: 500,
  deadMs: 2_000,
  freshMs: 1_500,
  reloadMs: 5_000,
};

/** What a heartbeat showed. */
export interface Beat {
  /** Others came or went, or may now be judged: the shards are to be shared out anew. */
  isNews: boolean;
}

/** Who is alive, by the heartbeats in the store and by what the others say. */
export interface Liveness {
  /** Reports this worker alive; null when the store gave no sense. */
  beat(): Promise<Beat | null>;
  /** Says from now on, and at once, that this worker leaves. */
  leave(): Promise<void>;
  /** Nobody can have taken our shards: the last heartbeat is young enough. */
  isFresh(): boolean;
  /** Nobody can call us dead yet: the store answered a heartbeat that is younger than that. */
  isHeard(): boolean;
  /** Silent for too long or dead for certain. */
  isGone(worker: string): boolean;
  isDead(worker: string): boolean;
  /** Those of these whom the store has heard of in time, asked at once. */
  heardOf(workers: string[]): Promise<ReadonlySet<string>>;
  /** The living who take shards. */
  candidates(): string[];
  /** Somebody alive gives shards away. */
  hasLeavers(): boolean;
  /** Someone else takes shards, or may yet be heard of. */
  hasOthers(): boolean;
  /** Another worker's word on the `dead` channel; false when it says nothing new to us. */
  hear(message: string): boolean;
  connection(isUp: boolean): void;
  /** Nothing listens at the store's address. */
  refused(): void;
}

type Reply = [known: number, members: string[], leavers: string[]];

/** After silence of our own the others get this many heartbeats to be seen before they count as dead. */
const graceBeats = 3;
/** Deaths remembered, so that a heartbeat's late answer does not revive anyone. */
const maxDead = 1_000;
const leavingPrefix = "leaving ";

export const farewell = (incarnation: string) => leavingPrefix + incarnation;

export function createLiveness(deps: {
  incarnation: string;
  redis: Connection;
  keys: Keyspace;
  timing: Timing;
  timings: ShardTimings;
  /**
   * The others may think us dead: what we hold may be theirs. Called before anything counts as fresh again.
   * `isOutlived`: the store ended before anyone can have taken it, so it can only be theirs by what the store says.
   * Resolves when nothing is on its way under the tokens given up: once we are counted again, they would hold.
   */
  onForgotten: (isOutlived: boolean) => Promise<void>;
  onDead: (worker: string) => void;
}): Liveness {
  const { incarnation, redis, keys, timing, timings } = deps;
  let live = new Set<string>();
  const leaving = new Set<string>();
  const dead = new Set<string>();
  /** Until then a silent worker may just not have been heard yet: the store was away, or we were. */
  let graceUntil = Number.NEGATIVE_INFINITY;
  let connectedAt = Number.NEGATIVE_INFINITY;
  let lastHeartbeat = Number.NEGATIVE_INFINITY;
  let isLeaving = false;
  /** While we were counted alive, and we have not been heard since. */
  let hasSeenEnd = false;

  /** Takes over who is alive and who of them leaves; whether that is news. */
  function see(members: string[], leavers: string[]): boolean {
    const before = live;
    live = new Set(members.filter((worker) => !dead.has(worker)));
    const unheard = leavers.filter((worker) => live.has(worker) && !leaving.has(worker));
    for (const worker of unheard) remember(leaving, worker);
    for (const worker of leaving) if (!live.has(worker)) leaving.delete(worker);
    for (const worker of before) if (!live.has(worker)) deps.onDead(worker);
    if (unheard.length > 0) return true;
    return live.size !== before.size || [...live].some((worker) => !before.has(worker));
  }

  async function report(isNew: boolean): Promise<Reply | null> {
    const args = [incarnation, timings.deadMs, isLeaving ? 1 : 0, isNew ? 1 : 0];
    const reply = await runScript(redis, "heartbeat", [keys.workers, keys.leaving], args);
    return Array.isArray(reply) ? (reply as Reply) : null;
  }

  async function beat(): Promise<Beat | null> {
    let sent = timing.elapsed();
    const isFirst = lastHeartbeat < 0;
    let reply = await report(isFirst);
    // Silent for so long that the others called us dead, or forgotten by the store. Someone may have looked
    // before this sign of life and claim after it.
    const isForgotten = reply?.[0] === 0 && !isFirst;
    if (isForgotten) {
      await deps.onForgotten(hasSeenEnd);
      sent = timing.elapsed();
      reply = await report(true);
    }
    if (reply === null) return null;
    const [, members, leavers] = reply;
    lastHeartbeat = sent;
    hasSeenEnd = false;
    const isChanged = see(members, leavers);
    if (isForgotten) graceUntil = timing.elapsed() + graceBeats * timings.heartbeatMs;
    const hasWaited = graceUntil > 0 && timing.elapsed() >= graceUntil;
    if (hasWaited) graceUntil = Number.NEGATIVE_INFINITY;
    return { isNews: isChanged || hasWaited || isForgotten };
  }

  return {
    beat,
    async leave() {
      isLeaving = true;
      // Who never joined is not missed.
      if (lastHeartbeat >= 0) await beat();
    },
    isFresh: () =>
      lastHeartbeat > connectedAt && timing.elapsed() - lastHeartbeat < timings.freshMs,
    isHeard: () => timing.elapsed() - lastHeartbeat < timings.deadMs,
    isGone: (worker) => dead.has(worker) || (!live.has(worker) && timing.elapsed() >= graceUntil),
    isDead: (worker) => dead.has(worker),
    async heardOf(workers) {
      if (workers.length === 0) return new Set();
      const args = [timings.deadMs, ...workers];
      const reply = await runScript(redis, "alive", [keys.workers], args);
      return new Set(Array.isArray(reply) ? (reply as string[]) : workers);
    },
    candidates: () => [...live].filter((worker) => !leaving.has(worker)),
    hasLeavers: () => leaving.size > 0,
    hasOthers: () =>
      timing.elapsed() < graceUntil ||
      [...live].some((worker) => worker !== incarnation && !leaving.has(worker)),
    hear(message) {
      const isLeaving = message.startsWith(leavingPrefix);
      const worker = isLeaving ? message.slice(leavingPrefix.length) : message;
      if (worker === incarnation) return false;
      if (isLeaving) {
        remember(leaving, worker);
        return true;
      }
      live.delete(worker);
      remember(dead, worker);
      deps.onDead(worker);
      return true;
    },
    connection(isUp) {
      connectedAt = isUp ? timing.elapsed() : Number.POSITIVE_INFINITY;
    },
    refused() {
      hasSeenEnd ||= timing.elapsed() - lastHeartbeat < timings.deadMs;
    },
  };
}

function remember(names: Set<string>, name: string): void {
  names.add(name);
  const [oldest] = names;
  if (names.size > maxDead && oldest !== undefined) names.delete(oldest);
}
