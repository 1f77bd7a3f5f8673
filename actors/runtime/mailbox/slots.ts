import type { Metrics } from "../../../server/platform/metrics/metrics.ts";
import type { Actor, Delivery } from "./actor.ts";
import type { Doubtful } from "../placement/continuity.ts";
import { shardOf } from "../storage/keys.ts";
import type { Outcome } from "../router/outcome.ts";
import { stampOf } from "../storage/storage.ts";
import type { Timing } from "../timing.ts";

/** How long a hand-over waits for what is in flight; the fence makes going on safe. */
const idleWaitMs = 2_000;

export interface Waiting extends Delivery {
  resolve: (outcome: Outcome) => void;
}

/** Queue and in-memory state of one lobby; one commit in flight at most. */
export interface Slot {
  readonly code: string;
  readonly shard: number;
  actor: Actor | null;
  waiting: Waiting[];
  /** So many of the waiting are decided one by one, because the rules failed for them together. */
  aloneCount: number;
  isBusy: boolean;
  isDropped: boolean;
  /** Deadline the ticker has; never later than the lobby's next one. */
  armed: number | null;
  lastUsed: number;
  onIdle: (() => void)[];
  /** The store may have gone back behind the actor: it is read again before the next batch. */
  isDoubtful: boolean;
  /** Number of the last event this process saw committed; the store can only have less after a loss. */
  knownSeq: number;
  /** Of a commit on its way, or of one that nobody knows the end of: it may have been told. 0 without one. */
  maybeSeq: number;
  /** The log has numbers that the state does not know of: that has lost more than the log. */
  isBehindLog: boolean;
}

/** Shard -> code -> slot; a shard without lobbies has no entry. */
export interface Slots {
  find(code: string): Slot | undefined;
  /** The slot of a lobby, made when there is none. */
  open(code: string, shard: number): Slot;
  ofShard(shard: number): Slot[];
  remove(slot: Slot): void;
  /**
   * Whoever outlived the store may have become a stranger to it, and still knows what it told: what is known of the
   * lobbies of a shard stays when they leave memory, until they are opened or the shard is anybody's.
   */
  keep(shard: number): void;
  forgetKept(shard: number): void;
  /** Lobbies of the shard that the store may have lost something of. */
  doubtful(shard: number): Doubtful[];
  /** It has lost nothing of these. */
  trust(shard: number, codes: string[]): void;
  count(): number;
  all(): Generator<Slot>;
}

export function createSlots(now: () => number, metrics: Metrics): Slots {
  const shards = new Map<number, Map<string, Slot>>();
  const kept = new Map<number, Map<string, Known>>();
  let count = 0;

  function ofShard(shard: number): Slot[] {
    return [...(shards.get(shard)?.values() ?? [])];
  }

  return {
    find: (code) => shards.get(shardOf(code))?.get(code),
    open(code, shard) {
      const slots = shards.get(shard) ?? new Map<string, Slot>();
      const known = slots.get(code);
      if (known) return known;
      shards.set(shard, slots);
      const slot = emptySlot(code, shard, now());
      const outlived = kept.get(shard)?.get(code);
      slot.knownSeq = outlived?.seq ?? 0;
      slot.maybeSeq = outlived?.maybeSeq ?? 0;
      kept.get(shard)?.delete(code);
      slots.set(code, slot);
      metrics.lobbyActors.set(++count);
      return slot;
    },
    ofShard,
    remove(slot) {
      const slots = shards.get(slot.shard);
      if (slots?.get(slot.code) !== slot) return;
      slots.delete(slot.code);
      if (slots.size === 0) shards.delete(slot.shard);
      metrics.lobbyActors.set(--count);
    },
    keep(shard) {
      const known = new Map(kept.get(shard));
      for (const slot of ofShard(shard)) if (hasTold(slot)) known.set(slot.code, knownOf(slot));
      kept.set(shard, known);
    },
    forgetKept: (shard) => void kept.delete(shard),
    doubtful(shard) {
      const slots = ofShard(shard).filter((slot) => isUnsure(slot) && hasTold(slot));
      return [...(kept.get(shard)?.values() ?? []), ...slots.map(knownOf)];
    },
    trust(shard, codes) {
      for (const code of codes) {
        const slot = shards.get(shard)?.get(code);
        if (slot) slot.isDoubtful = false;
        kept.get(shard)?.delete(code);
      }
    },
    count: () => count,
    *all() {
      for (const slots of shards.values()) yield* slots.values();
    },
  };
}

/** What is left of a lobby that left memory with the store. */
interface Known extends Doubtful {
  seq: number;
  maybeSeq: number;
}

/** To be read before it is known whether the store has all of it. */
const isUnsure = ({ isDoubtful, actor, maybeSeq }: Slot) =>
  isDoubtful || (actor === null && maybeSeq > 0);

/** Somebody may have heard of an event. */
const hasTold = ({ knownSeq, maybeSeq }: Slot) => knownSeq > 0 || maybeSeq > 0;

function knownOf({ code, actor, isBusy, knownSeq, maybeSeq }: Slot): Known {
  const stamp = actor === null || isBusy ? null : stampOf(actor.version, actor.commitId);
  return { code, seq: knownSeq, maybeSeq, stamp };
}

function emptySlot(code: string, shard: number, now: number): Slot {
  return {
    code,
    shard,
    actor: null,
    waiting: [],
    aloneCount: 0,
    isBusy: false,
    isDropped: false,
    armed: null,
    lastUsed: now,
    onIdle: [],
    isDoubtful: false,
    knownSeq: 0,
    maybeSeq: 0,
    isBehindLog: false,
  };
}

/** Resolves when nothing of these slots is in flight, or has been for too long. */
export function idle(busy: Slot[], timing: Timing): Promise<void> {
  const all = busy.map((slot) => new Promise<void>((done) => slot.onIdle.push(done)));
  return new Promise((resolve) => {
    const cancel = timing.after(idleWaitMs, resolve);
    void Promise.all(all).then(cancel).then(resolve);
  });
}
