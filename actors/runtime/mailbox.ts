import type { Logger } from "../../server/core/logger.ts";
import type { Metrics } from "../../server/core/metrics.ts";
import { nextDeadline } from "../lobby/deadlines.ts";
import type { Lobby, LobbyCommand, LobbyEvent } from "../lobby/types.ts";
import { audienceDue } from "./audience.ts";
import {
  actorOf,
  leaveGap,
  runBatch,
  type Actor,
  type Batch,
  type BatchRules,
  type Delivery,
} from "./actor.ts";
import type { Connection } from "./connection.ts";
import type { Commit, Journal } from "./journal.ts";
import { dueKey, shardOf } from "./keys.ts";
import { moved, unavailable, type Outcome } from "./outcome.ts";
import { loadLobby } from "./storage.ts";
import type { Ticker } from "./ticker.ts";
import type { Timing } from "./timing.ts";

/** Commands waiting for one lobby; more are refused, so that one hot lobby harms only itself. */
const maxWaitingPerLobby = 64;
/** Commands waiting in the whole process. */
const maxWaiting = 20_000;
/** Actors without work for so long leave memory; the next command reads them back. */
const idleMs = 5 * 60_000;
/** How long a hand-over waits for what is in flight; the fence makes going on safe. */
const closeTimeoutMs = 2_000;
/** A timer whose command could not be carried out is tried again after this. */
const timerRetryMs = 500;

type Change = Omit<Commit, "token">;

interface Waiting extends Delivery {
  resolve: (outcome: Outcome) => void;
}

/** Queue and in-memory state of one lobby; one commit in flight at most. */
interface Slot {
  readonly code: string;
  readonly shard: number;
  actor: Actor | null;
  waiting: Waiting[];
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

export interface Placement {
  tokenOf(shard: number): string | null;
  /** Whether the shard is still ours: known at once while the heartbeat is fresh, else asked of the store. */
  confirm(shard: number): Promise<boolean> | boolean;
  fenced(shard: number): void;
}

export interface MailboxDeps {
  redis: Connection;
  journal: Journal;
  placement: Placement;
  ticker: Ticker;
  timing: Timing;
  log: Logger;
  metrics: Metrics;
  now: () => number;
  rules: BatchRules;
  nextCommitId: () => string;
  /** Work that follows a commit (list entry, result job, next batch of questions); replies wait for what it answers. */
  afterCommit(lobby: Lobby, events: LobbyEvent[]): Promise<void> | null;
  /** After a lobby was read back or ticked: work a dead owner may have left undone. */
  afterRead(lobby: Lobby): void;
}

export interface Mailboxes {
  /** `isFirst`: nobody can have carried out a command of this id before. */
  deliver(code: string, command: LobbyCommand, id: string, isFirst?: boolean): Promise<Outcome>;
  /** The store was away and may have come back older: nothing in memory is trusted without a look. */
  doubt(): void;
  /** The shard is lost: its lobbies leave memory, callers are sent on. */
  drop(shard: number): void;
  /** Resolves when nothing of the shard is in flight. */
  close(shard: number): Promise<void>;
  /** A deadline passed. */
  fire(code: string): void;
  /** The lobby as this process has it in memory. */
  peek(code: string): Lobby | null;
  actors(): number;
  waiting(): number;
  sweep(): void;
}

export function createMailboxes(deps: MailboxDeps): Mailboxes {
  /** Shard -> code -> slot; a shard without lobbies has no entry. */
  const shards = new Map<number, Map<string, Slot>>();
  let actorCount = 0;
  let waitingCount = 0;

  const find = (code: string) => shards.get(shardOf(code))?.get(code);
  const slotsOf = (shard: number) => [...(shards.get(shard)?.values() ?? [])];

  function slotOf(code: string): Slot {
    const shard = shardOf(code);
    const slots = shards.get(shard) ?? new Map<string, Slot>();
    const known = slots.get(code);
    if (known) return known;
    shards.set(shard, slots);
    const slot: Slot = {
      code,
      shard,
      actor: null,
      waiting: [],
      isBusy: false,
      isDropped: false,
      armed: null,
      lastUsed: deps.now(),
      onIdle: [],
      isDoubtful: false,
      knownSeq: 0,
    };
    slots.set(code, slot);
    deps.metrics.lobbyActors.set(++actorCount);
    return slot;
  }

  function remove(slot: Slot): void {
    const slots = shards.get(slot.shard);
    if (slots?.get(slot.code) !== slot) return;
    slots.delete(slot.code);
    if (slots.size === 0) shards.delete(slot.shard);
    deps.metrics.lobbyActors.set(--actorCount);
  }

  function forget(slot: Slot): void {
    slot.isDropped = true;
    slot.actor = null;
    remove(slot);
    settle(slot, () => moved);
  }

  function settle(slot: Slot, outcome: (waiting: Waiting) => Outcome): void {
    const all = slot.waiting;
    slot.waiting = [];
    waitingCount -= all.length;
    for (const one of all) one.resolve(outcome(one));
  }

  /** Drops the actor: the store decides what it was. Callers retry with the same command id. */
  function discard(slot: Slot, batch: Waiting[]): void {
    slot.actor = null;
    for (const one of batch) one.resolve(moved);
    settle(slot, () => moved);
  }

  /** Works off what waits until something has to be waited for; its end calls this again. */
  function proceed(slot: Slot): void {
    while (slot.waiting.length > 0 && !slot.isBusy && !slot.isDropped) step(slot);
    // A code nobody ever used must not stay in memory.
    if (!slot.isBusy && slot.actor?.lobby === null && slot.waiting.length === 0) forget(slot);
  }

  function release(slot: Slot): void {
    slot.isBusy = false;
    for (const done of slot.onIdle.splice(0)) done();
    proceed(slot);
  }

  /** Nothing on this path is an async function: a chain of promises costs as much as deciding the command. */
  function step(slot: Slot): void {
    const token = deps.placement.tokenOf(slot.shard);
    if (token === null) return forget(slot);
    if (slot.isDoubtful) slot.actor = null;
    const { actor } = slot;
    if (!actor) return readFirst(slot, token);
    const batch = slot.waiting;
    slot.waiting = [];
    waitingCount -= batch.length;
    const result = tryBatch(slot, actor, batch);
    if (!result) return discard(slot, batch);
    if (result.commit === null) return confirmed(slot, actor, batch, result);
    slot.isBusy = true;
    commit(slot, result.commit, token, (isCommitted) => {
      if (isCommitted) return committed(slot, actor, batch, result);
      discard(slot, batch);
      release(slot);
    });
  }

  function readFirst(slot: Slot, token: string): void {
    slot.isBusy = true;
    void read(slot, token)
      .catch((error: unknown) => {
        deps.log.error({ lobby: slot.code, err: error }, "lobby could not be taken up");
        return false;
      })
      .then((isRead) => {
        if (!isRead) discard(slot, []);
        release(slot);
      });
  }

  /** Without a commit there was no fence: make sure that what we say is still true. */
  function confirmed(slot: Slot, actor: Actor, batch: Waiting[], result: Batch): void {
    const isOurs = deps.placement.confirm(slot.shard);
    if (isOurs === true) return answer(slot, actor, batch, result);
    slot.isBusy = true;
    void Promise.resolve(isOurs)
      .catch(() => false)
      .then((isSure) => {
        if (isSure) answer(slot, actor, batch, result);
        else discard(slot, batch);
        release(slot);
      });
  }

  function commit(
    slot: Slot,
    change: Change,
    token: string,
    done: (isCommitted: boolean) => void,
  ): void {
    deps.journal.commit(Object.assign(change, { token }), (outcome) => {
      if (outcome === "committed") slot.knownSeq = change.seq;
      if (outcome === "fenced") deps.placement.fenced(slot.shard);
      // Perhaps it is in the store, with a deadline nobody here knows.
      if (outcome === "failed") deps.ticker.arm(slot.code, deps.now() + timerRetryMs);
      done(outcome === "committed");
    });
  }

  /** The effect is committed; what follows may fail without failing the command. */
  function committed(slot: Slot, actor: Actor, batch: Waiting[], result: Batch): void {
    const end = () => {
      answer(slot, actor, batch, result);
      release(slot);
    };
    const following = actor.lobby === null ? null : deps.afterCommit(actor.lobby, result.events);
    if (following === null) return end();
    const failed = (error: unknown) =>
      deps.log.warn({ lobby: slot.code, reason: String(error) }, "work after a lobby commit");
    void following.catch(failed).then(end);
  }

  function answer(slot: Slot, actor: Actor, batch: Waiting[], { replies }: Batch): void {
    slot.lastUsed = deps.now();
    if (!slot.isDropped && actor.lobby) arm(slot, actor, actor.lobby);
    for (let i = 0; i < batch.length; i++) batch[i]?.resolve(replies[i] ?? unavailable);
  }

  function tryBatch(slot: Slot, actor: Actor, batch: Waiting[]) {
    try {
      return runBatch(actor, batch, deps.now(), deps.nextCommitId(), deps.rules);
    } catch (error) {
      deps.log.error({ lobby: slot.code, err: error }, "lobby rules failed");
      const failed: Outcome = { ok: false, code: "server:error" };
      for (const one of batch) one.resolve(failed);
      return null;
    }
  }

  async function read(slot: Slot, token: string): Promise<boolean> {
    slot.isDoubtful = false;
    let actor: Actor;
    try {
      actor = actorOf(slot.code, await loadLobby(deps.redis, slot.code), deps.now());
    } catch (error) {
      deps.log.warn({ lobby: slot.code, reason: String(error) }, "lobby could not be read");
      return false;
    }
    if (!(await skipLost(slot, actor, token))) return false;
    slot.actor = actor;
    if (!actor.lobby) return true;
    slot.knownSeq = actor.lobby.seq;
    deps.afterRead(actor.lobby);
    return true;
  }

  /** The store lost events that were seen: numbers are not used twice, and the hole tells every reader. */
  function skipLost(slot: Slot, actor: Actor, token: string): Promise<boolean> | boolean {
    const { lobby } = actor;
    if (!lobby || lobby.seq >= slot.knownSeq) return true;
    deps.log.error({ lobby: slot.code, seq: slot.knownSeq }, "the store lost events of a lobby");
    const { context } = deps.rules;
    const id = deps.nextCommitId();
    const gap = leaveGap(actor, lobby, slot.knownSeq, deps.now(), id, context);
    return new Promise((resolve) => commit(slot, gap, token, resolve));
  }

  function arm(slot: Slot, actor: Actor, lobby: Lobby): void {
    const audience = audienceDue(actor.audience, lobby, slot.lastUsed) ?? Infinity;
    const next = Math.min(nextDeadline(lobby) ?? Infinity, audience);
    if (next === Infinity || (slot.armed !== null && slot.armed <= next)) return;
    slot.armed = next;
    deps.ticker.arm(slot.code, next);
  }

  function enqueue(
    code: string,
    command: LobbyCommand,
    id: string,
    isFirst = false,
  ): Promise<Outcome> {
    const shard = shardOf(code);
    if (deps.placement.tokenOf(shard) === null) return Promise.resolve(moved);
    const slot = slotOf(code);
    if (slot.waiting.length >= maxWaitingPerLobby || waitingCount >= maxWaiting)
      return Promise.resolve(unavailable);
    waitingCount += 1;
    return new Promise((resolve) => {
      slot.waiting.push({ command, id, isFirst, resolve });
      proceed(slot);
    });
  }

  return {
    deliver: enqueue,
    doubt() {
      for (const slots of shards.values())
        for (const slot of slots.values()) slot.isDoubtful = true;
    },
    drop(shard) {
      for (const slot of slotsOf(shard)) forget(slot);
    },
    async close(shard) {
      const busy = slotsOf(shard).filter((slot) => slot.isBusy);
      const idle = Promise.all(
        busy.map((slot) => new Promise<void>((done) => slot.onIdle.push(done))),
      );
      let cancel = () => {};
      const timeout = new Promise<void>((done) => {
        cancel = deps.timing.after(closeTimeoutMs, done);
      });
      await Promise.race([idle, timeout]);
      cancel();
    },
    fire(code) {
      const slot = find(code);
      if (slot) slot.armed = null;
      void enqueue(code, { type: "tick" }, "tick").then(async (outcome) => {
        const fired = find(code);
        if (fired?.actor?.lobby) return deps.afterRead(fired.actor.lobby);
        if (outcome === moved || (!outcome.ok && outcome.code === "server:unavailable")) {
          // The store or the queue refused; when the shard went away, its new owner has the timer.
          if (deps.placement.tokenOf(shardOf(code)) !== null)
            deps.ticker.arm(code, deps.now() + timerRetryMs);
          return;
        }
        if (outcome.ok || outcome.code !== "lobby:not_found") return;
        // The lobby expired; its timer has nothing left to watch.
        await deps.redis.zrem(dueKey(shardOf(code)), code).catch(() => 0);
      });
    },
    peek: (code) => find(code)?.actor?.lobby ?? null,
    actors: () => actorCount,
    waiting: () => waitingCount,
    sweep() {
      const limit = deps.now() - idleMs;
      for (const slots of shards.values())
        for (const slot of slots.values())
          if (!slot.isBusy && slot.waiting.length === 0 && slot.lastUsed < limit) remove(slot);
    },
  };
}
