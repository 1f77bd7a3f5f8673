import type { Logger } from "../../../server/platform/log/logger.ts";
import type { Metrics } from "../../../server/platform/metrics/metrics.ts";
import type { Lobby, LobbyCommand, LobbyEvent } from "../../lobby/types.ts";
import { runBatch, type Actor, type Batch, type BatchRules } from "./actor.ts";
import type { Connection } from "../storage/connection.ts";
import type { Doubtful } from "../placement/continuity.ts";
import type { Commit, Journal } from "../storage/journal.ts";
import { createDeadlines } from "./deadlines.ts";
import { shardOf } from "../storage/keys.ts";
import { moved, unavailable, type Outcome } from "../router/outcome.ts";
import { createReader } from "./reading.ts";
import type { Shards } from "../placement/shards.ts";
import { createSlots, idle, type Slot, type Waiting } from "./slots.ts";
import type { Ticker } from "./ticker.ts";
import type { Timing } from "../timing.ts";

/** Commands waiting for one lobby; more are refused, so that one hot lobby harms only itself. */
const maxWaitingPerLobby = 64;
/** Commands waiting in the whole process. */
const maxWaiting = 20_000;
/** Actors without work for so long leave memory; the next command reads them back. */
const idleMs = 5 * 60_000;
const failedRules: Outcome = { ok: false, code: "server:error" };

export interface MailboxDeps {
  incarnation: string;
  redis: Connection;
  journal: Pick<Journal, "commit">;
  placement: Pick<Shards, "tokenOf" | "generationOf" | "isWhole" | "confirm" | "fenced">;
  ticker: Ticker;
  timing: Timing;
  log: Logger;
  metrics: Metrics;
  now: () => number;
  rules: BatchRules;
  nextCommitId: () => string;
  /** Work that follows a commit (list entry, result job, next batch of questions); replies wait for what it answers. */
  afterCommit(lobby: Lobby, events: LobbyEvent[]): Promise<void>;
  /** Nobody knows how the last commit of a lobby ended, so what follows one may be missing. */
  afterUnknown(code: string): void;
  /** After a lobby was read back or ticked: work a dead owner may have left undone. */
  afterRead(lobby: Lobby): void;
}

export type Deliver = (code: string, command: LobbyCommand, id: string) => Promise<Outcome>;

export interface Mailboxes {
  deliver: Deliver;
  /** The store was away and may have come back older: nothing in memory is trusted without a look. */
  doubt(): void;
  /** Lobbies of the shard that nobody has looked at since. */
  doubtful(shard: number): Doubtful[];
  /** These are in the store as they are in memory. */
  trust(shard: number, codes: string[]): void;
  /** A lobby is read again soon, and goes on behind what the store has lost of it. */
  review(code: string): void;
  /** The shard is ours; `isOutlived`: again, and what is known of its lobbies still holds. */
  open(shard: number, isOutlived: boolean): void;
  /** The shard is lost: its lobbies leave memory, callers are sent on; `isOutlived`: what is known of them stays. */
  drop(shard: number, isOutlived: boolean): void;
  /** Resolves when nothing of the shard is in flight. */
  close(shard: number): Promise<void>;
  /** A deadline passed. */
  fire(code: string): void;
  /** A deadline as the store has it. */
  restore(code: string, due: number): void;
  /** The lobby as it is committed, once no commit of it is in flight; null when it is not in memory. */
  committed(code: string): Promise<Lobby | null>;
  actors(): number;
  /** At most so many of the lobbies in memory, in no order. */
  some(limit: number): Lobby[];
  waiting(): number;
  sweep(): void;
}

export function createMailboxes(deps: MailboxDeps): Mailboxes {
  const slots = createSlots(deps.now, deps.metrics);
  let waitingCount = 0;
  const deadlines = createDeadlines({
    ...deps,
    slots,
    isOurs: (shard) => deps.placement.tokenOf(shard) !== null,
    deliver,
    afterRead: (lobby) => deps.afterRead(lobby),
  });

  const read = createReader({
    ...deps,
    commit,
    afterRead: (lobby) => deps.afterRead(lobby),
  });

  function forget(slot: Slot): void {
    slot.isDropped = true;
    slot.actor = null;
    slots.remove(slot);
    settle(slot, () => moved);
  }

  function settle(slot: Slot, outcome: (waiting: Waiting) => Outcome): void {
    const all = slot.waiting;
    slot.waiting = [];
    slot.aloneCount = 0;
    waitingCount -= all.length;
    for (const one of all) one.resolve(outcome(one));
  }

  /** Drops the actor: the store decides what it was. Callers retry with the same command id. */
  function discard(slot: Slot, batch: Waiting[]): void {
    slot.actor = null;
    for (const one of batch) one.resolve(moved);
    settle(slot, () => moved);
  }

  /** The loop of one lobby. It runs while commands wait, once per slot, so one commit is in flight at most. */
  async function work(slot: Slot): Promise<void> {
    slot.isBusy = true;
    while (slot.waiting.length > 0 && !slot.isDropped) {
      await step(slot);
      for (const done of slot.onIdle.splice(0)) done();
    }
    slot.isBusy = false;
    // A code nobody ever used must not stay in memory.
    if (slot.actor?.lobby === null) forget(slot);
  }

  async function step(slot: Slot): Promise<void> {
    const token = deps.placement.tokenOf(slot.shard);
    if (token === null) return forget(slot);
    if (slot.isDoubtful) slot.actor = null;
    const { actor } = slot;
    if (!actor) return readBack(slot, token);
    const batch = takeBatch(slot);
    waitingCount -= batch.length;
    const result = tryBatch(slot, actor, batch);
    if (!result) return broken(slot, batch);
    try {
      const isTrue = result.commit
        ? await commit(slot, result.commit, token)
        : await isUnchanged(slot);
      if (!isTrue) return discard(slot, batch);
      if (actor.lobby && result.commit) await follow(actor.lobby, result.events);
      answer(slot, actor, batch, result);
    } catch (error) {
      deps.log.error({ lobby: slot.code, err: error }, "lobby could not be worked on");
      discard(slot, batch);
    }
  }

  async function readBack(slot: Slot, token: string): Promise<void> {
    const isRead = await read(slot, token).catch((error: unknown) => {
      deps.log.error({ lobby: slot.code, err: error }, "lobby could not be taken up");
      return false;
    });
    if (!isRead) discard(slot, []);
  }

  /**
   * The rules failed in the middle of a batch: nothing of it is committed, and the actor is read again. Which of
   * the commands it was shows when each of them is decided alone.
   */
  function broken(slot: Slot, batch: Waiting[]): void {
    slot.actor = null;
    if (batch.length === 1) return batch[0]?.resolve(failedRules);
    slot.waiting = [...batch, ...slot.waiting];
    slot.aloneCount = batch.length;
    waitingCount += batch.length;
  }

  /** What was decided without a change holds: the shard is still ours, and the store has it as it is in memory. */
  async function isUnchanged(slot: Slot): Promise<boolean> {
    try {
      return await deps.placement.confirm(slot.shard);
    } catch {
      return false;
    }
  }

  async function commit(slot: Slot, change: Commit, token: string): Promise<boolean> {
    const { maybeSeq } = slot;
    slot.maybeSeq = Math.max(maybeSeq, change.seq);
    const outcome = await deps.journal.commit(change, token);
    if (outcome === "committed") {
      slot.knownSeq = change.seq;
      slot.maybeSeq = 0;
      slot.isBehindLog = false;
    } else if (outcome !== "failed") slot.maybeSeq = maybeSeq;
    if (outcome === "fenced") deps.placement.fenced(slot.shard, token);
    // It is read back and the commands are tried again; time after time it cannot be written at all.
    if (outcome === "conflict")
      deps.log.warn({ lobby: slot.code }, "lobby is not as it was read: read again");
    if (outcome === "refused") {
      slot.isBehindLog = true;
      deps.log.error({ lobby: slot.code, seq: change.seq }, "lobby is behind its log");
    }
    if (outcome === "silent")
      deps.log.warn({ lobby: slot.code }, "nothing written: this worker counts as dead");
    // Perhaps it is in the store, with a deadline nobody here knows.
    if (outcome === "failed") {
      deadlines.retry(slot.code);
      deps.afterUnknown(slot.code);
    }
    return outcome === "committed";
  }

  /** The effect is committed; what follows may fail without failing the command. */
  async function follow(lobby: Lobby, events: LobbyEvent[]): Promise<void> {
    try {
      await deps.afterCommit(lobby, events);
    } catch (error) {
      deps.log.warn({ lobby: lobby.code, reason: String(error) }, "work after a lobby commit");
    }
  }

  function answer(slot: Slot, actor: Actor, batch: Waiting[], { replies }: Batch): void {
    slot.lastUsed = deps.now();
    if (!slot.isDropped && actor.lobby) deadlines.arm(slot, actor, actor.lobby);
    for (let i = 0; i < batch.length; i++) batch[i]?.resolve(replies[i] ?? unavailable);
  }

  function tryBatch(slot: Slot, actor: Actor, batch: Waiting[]) {
    try {
      return runBatch(actor, batch, deps.now(), deps.nextCommitId(), deps.rules);
    } catch (error) {
      deps.log.error({ lobby: slot.code, err: error }, "lobby rules failed");
      return null;
    }
  }

  async function deliver(code: string, command: LobbyCommand, id: string): Promise<Outcome> {
    const shard = shardOf(code);
    if (deps.placement.tokenOf(shard) === null) return moved;
    const slot = slots.open(code, shard);
    if (slot.waiting.length >= maxWaitingPerLobby || waitingCount >= maxWaiting) return unavailable;
    waitingCount += 1;
    const outcome = new Promise<Outcome>((resolve) => {
      slot.waiting.push({ command, id, resolve });
    });
    if (!slot.isBusy) void work(slot);
    return outcome;
  }

  return {
    deliver,
    doubt() {
      for (const slot of slots.all()) slot.isDoubtful = true;
    },
    doubtful: slots.doubtful,
    trust: slots.trust,
    review(code) {
      if (!slots.find(code)?.isBusy) deadlines.fire(code);
    },
    open(shard, isOutlived) {
      if (!isOutlived) slots.forgetKept(shard);
    },
    drop(shard, isOutlived) {
      if (isOutlived) slots.keep(shard);
      else slots.forgetKept(shard);
      for (const slot of slots.ofShard(shard)) forget(slot);
    },
    close: (shard) =>
      idle(
        slots.ofShard(shard).filter((slot) => slot.isBusy),
        deps.timing,
      ),
    fire: deadlines.fire,
    restore: deadlines.restore,
    async committed(code) {
      const slot = slots.find(code);
      if (!slot?.isBusy) return slot?.actor?.lobby ?? null;
      return new Promise((resolve) => slot.onIdle.push(() => resolve(slot.actor?.lobby ?? null)));
    },
    actors: slots.count,
    some(limit) {
      const lobbies: Lobby[] = [];
      for (const { actor } of slots.all()) {
        if (lobbies.length >= limit) break;
        if (actor?.lobby) lobbies.push(actor.lobby);
      }
      return lobbies;
    },
    waiting: () => waitingCount,
    sweep() {
      const now = deps.now();
      const windowMs = deps.rules.seatLimit?.windowMs ?? 0;
      for (const slot of slots.all()) {
        if (slot.isBusy || slot.waiting.length > 0) continue;
        if (slot.actor && slot.lastUsed < now - windowMs) slot.actor.counts.clear();
        if (slot.lastUsed < now - idleMs) slots.remove(slot);
      }
    },
  };
}

/** What is decided together: all that waits. */
function takeBatch(slot: Slot): Waiting[] {
  if (slot.aloneCount > 0) {
    slot.aloneCount -= 1;
    return slot.waiting.splice(0, 1);
  }
  const batch = slot.waiting;
  slot.waiting = [];
  return batch;
}
