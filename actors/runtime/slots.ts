import type { Metrics } from "../../server/core/metrics.ts";
import type { Actor, Delivery } from "./actor.ts";
import { shardOf } from "./keys.ts";
import type { Outcome } from "./outcome.ts";
import type { Timing } from "./timing.ts";

/** How long a hand-over waits for what is in flight; the fence makes going on safe. */
const idleWaitMs = 2_000;

export interface Waiting extends Delivery {
  resolve: (outcome: Outcome) => void;
}

/** Shared by all lobbies where nothing waits: an empty list that grows takes room for many at once. */
export const noneWaiting = Object.freeze<Waiting[]>([]) as Waiting[];

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
}

/** Shard -> code -> slot; a shard without lobbies has no entry. */
export interface Slots {
  find(code: string): Slot | undefined;
  /** The slot of a lobby, made when there is none. */
  open(code: string, shard: number): Slot;
  ofShard(shard: number): Slot[];
  remove(slot: Slot): void;
  count(): number;
  all(): Generator<Slot>;
}

export function createSlots(now: () => number, metrics: Metrics): Slots {
  const shards = new Map<number, Map<string, Slot>>();
  let count = 0;

  return {
    find: (code) => shards.get(shardOf(code))?.get(code),
    open(code, shard) {
      const slots = shards.get(shard) ?? new Map<string, Slot>();
      const known = slots.get(code);
      if (known) return known;
      shards.set(shard, slots);
      const slot = emptySlot(code, shard, now());
      slots.set(code, slot);
      metrics.lobbyActors.set(++count);
      return slot;
    },
    ofShard: (shard) => [...(shards.get(shard)?.values() ?? [])],
    remove(slot) {
      const slots = shards.get(slot.shard);
      if (slots?.get(slot.code) !== slot) return;
      slots.delete(slot.code);
      if (slots.size === 0) shards.delete(slot.shard);
      metrics.lobbyActors.set(--count);
    },
    count: () => count,
    *all() {
      for (const slots of shards.values()) yield* slots.values();
    },
  };
}

function emptySlot(code: string, shard: number, now: number): Slot {
  return {
    code,
    shard,
    actor: null,
    waiting: noneWaiting,
    aloneCount: 0,
    isBusy: false,
    isDropped: false,
    armed: null,
    lastUsed: now,
    onIdle: [],
    isDoubtful: false,
    knownSeq: 0,
  };
}

/** Resolves when nothing of these slots is in flight, or has been for too long. */
export async function idle(busy: Slot[], timing: Timing): Promise<void> {
  const all = Promise.all(busy.map((slot) => new Promise<void>((done) => slot.onIdle.push(done))));
  let cancel = () => {};
  const timeout = new Promise<void>((done) => {
    cancel = timing.after(idleWaitMs, done);
  });
  await Promise.race([all, timeout]);
  cancel();
}
