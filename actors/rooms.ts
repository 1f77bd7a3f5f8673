import type { Logger } from "../../../server/platform/log/logger.ts";
import type { Origin } from "../../../server/platform/origin.ts";
import type { ActorMetrics } from "../../../server/platform/metrics/actor-metrics.ts";
import type { AnyActor, BaseCommand, BaseEvent, BaseState } from "../definition.ts";
import type { Placement } from "../placement/placement.ts";
import type { SuspectActor } from "../placement/shard-listener.ts";
import { notOwner, unavailable, type Outcome } from "../router/outcome.ts";
import type { Connection } from "../storage/connection.ts";
import type { Commit, Journal } from "../storage/journal.ts";
import { shardOf, type Keyspace } from "../storage/keys.ts";
import type { Timing } from "../timing.ts";
import { ActorReader } from "./actor-reader.ts";
import { runBatch, type Actor, type Batch } from "./actor.ts";
import type { CommitFollowers } from "./commit-followers.ts";
import { Deadlines } from "./deadlines.ts";
import { MailboxTable } from "./mailbox-table.ts";
import { takeBatch, untilIdle, type Mailbox, type Waiting } from "./mailbox.ts";
import type { Ticker } from "./ticker.ts";

/**
 * Maximum number of commands waiting for one actor; more are refused, so that a hot actor affects only
 * itself.
 */
const maxWaitingPerActor = 64;
/** Maximum number of commands waiting in the whole process. */
const maxWaiting = 20_000;
/** Actors without work for this long are evicted from memory; the next command loads them again. */
const idleMs = 5 * 60_000;
const failedRules: Outcome = { ok: false, code: "server:error" };

/** The state of an actor in memory. */
export interface HeldState {
  code: string;
  state: BaseState;
  lastUsed: number;
  numCommands: number;
}

export interface MailboxesDeps {
  definition: AnyActor;
  keys: Keyspace;
  nodeId: string;
  redis: Connection;
  journal: Pick<Journal, "commit">;
  followers: Pick<CommitFollowers, "committed" | "inDoubt">;
  placement: Pick<Placement, "tokenOf" | "generationOf" | "isIntact" | "confirm" | "fenced">;
  ticker: Ticker;
  timing: Timing;
  log: Logger;
  metrics: Pick<ActorMetrics, "actors" | "mailboxWaitSeconds">;
  /** Called when the first actor enters memory and when the last one leaves. */
  onOccupied?: ((isOccupied: boolean) => void) | undefined;
  now: () => number;
  nextCommitId: () => string;
  /** Work after a commit (index entry, jobs); replies wait for the returned promise. */
  afterCommit: (
    code: string,
    state: BaseState,
    events: BaseEvent[],
    cause: Origin,
  ) => Promise<void>;
  /** The outcome of an actor's last commit is unknown, so its follow-up work may be missing. */
  afterUnknown: (code: string) => void;
  /** Called after an actor was loaded or ticked, for work a dead owner may not have finished. */
  afterRead: (code: string, state: BaseState, cause: Origin) => void;
}

/** The actors of this process: one queue each, decided in batches, with at most one commit in flight. */
export class Mailboxes {
  readonly #deps: MailboxesDeps;
  readonly #table: MailboxTable;
  readonly #deadlines: Deadlines;
  readonly #reader: ActorReader;
  #waitingCount = 0;

  constructor(deps: MailboxesDeps) {
    this.#deps = deps;
    this.#table = new MailboxTable(deps.now, deps.metrics, deps.onOccupied);
    this.#deadlines = new Deadlines({
      ...deps,
      table: this.#table,
      isOurs: (shard) => deps.placement.tokenOf(shard) !== null,
      deliver: (code, command, id, origin) => this.deliver(code, command, id, origin),
    });
    this.#reader = new ActorReader({
      ...deps,
      commit: (mailbox, change, token) => this.#commit(mailbox, change, token),
    });
  }

  async deliver(code: string, command: BaseCommand, id: string, origin: Origin): Promise<Outcome> {
    const shard = shardOf(code);
    if (this.#deps.placement.tokenOf(shard) === null) return notOwner;
    const mailbox = this.#table.open(code, shard);
    if (mailbox.waiting.length >= maxWaitingPerActor || this.#waitingCount >= maxWaiting)
      return unavailable;
    this.#waitingCount += 1;
    if (mailbox.waiting.length === 0) mailbox.waitingSince = this.#deps.timing.elapsed();
    const outcome = new Promise<Outcome>((resolve) => {
      mailbox.waiting.push({ command, id, origin, resolve });
    });
    if (mailbox.phase === "idle") void this.#work(mailbox);
    return outcome;
  }

  /** The connection to Redis was lost: nothing in memory is served until it is verified. */
  markSuspect(): void {
    for (const mailbox of this.#table.all()) mailbox.isSuspect = true;
  }

  /** Actors of the shard that have not been verified since then. */
  suspects(shard: number): SuspectActor[] {
    return this.#table.suspects(shard);
  }

  /** Marks actors whose state in memory equals that in Redis. */
  markVerified(shard: number, codes: string[]): void {
    this.#table.markVerified(shard, codes);
  }

  /** Schedules an actor to be loaded again; it continues after the numbers that Redis has lost. */
  resync(code: string): void {
    if (this.#table.find(code)?.phase !== "working") this.#deadlines.fire(code);
  }

  /**
   * The shard was acquired. `isRetained`: it was ours before, and the data known about its actors is still
   * valid.
   */
  open(shard: number, isRetained: boolean): void {
    if (!isRetained) this.#table.dropRetained(shard);
  }

  /**
   * The shard was lost: evicts its actors and redirects callers. `isRetained` keeps the data known about
   * the actors.
   */
  drop(shard: number, isRetained: boolean): void {
    if (isRetained) this.#table.retain(shard);
    else this.#table.dropRetained(shard);
    for (const mailbox of this.#table.ofShard(shard)) this.#evict(mailbox);
  }

  /** Resolves when the shard has nothing in flight. */
  drain(shard: number): Promise<void> {
    const working = this.#table.ofShard(shard).filter(({ phase }) => phase === "working");
    return untilIdle(working, this.#deps.timing);
  }

  /** Called when a deadline has passed. */
  fire(code: string): void {
    this.#deadlines.fire(code);
  }

  /** Restores a deadline stored in Redis. */
  restoreDeadline(code: string, due: number): void {
    this.#deadlines.restore(code, due);
  }

  /** The committed state, once no commit is in flight; null if the actor is not in memory. */
  async committed(code: string): Promise<BaseState | null> {
    const mailbox = this.#table.find(code);
    if (mailbox?.phase !== "working") return mailbox?.actor?.state ?? null;
    return new Promise((resolve) =>
      mailbox.onIdle.push(() => resolve(mailbox.actor?.state ?? null)),
    );
  }

  get actors(): number {
    return this.#table.count;
  }

  get waiting(): number {
    return this.#waitingCount;
  }

  /** Up to `limit` of the actors in memory, in no particular order. */
  some(limit: number): HeldState[] {
    const held: HeldState[] = [];
    for (const { code, actor, lastUsed, numCommands } of this.#table.all()) {
      if (held.length >= limit) break;
      if (actor?.state) held.push({ code, state: actor.state, lastUsed, numCommands });
    }
    return held;
  }

  /** Commands that an actor has answered since it was opened here; null if it is not in memory. */
  commandsOf(code: string): number | null {
    return this.#table.find(code)?.numCommands ?? null;
  }

  /** Evicts idle actors. */
  sweep(): void {
    const now = this.#deps.now();
    const windowMs = this.#deps.definition.limits.perSender?.windowMs ?? 0;
    for (const mailbox of this.#table.all()) {
      if (mailbox.phase === "working" || mailbox.waiting.length > 0) continue;
      if (mailbox.actor && mailbox.lastUsed < now - windowMs) mailbox.actor.counts.clear();
      if (mailbox.lastUsed < now - idleMs) this.#table.remove(mailbox);
    }
  }

  #evict(mailbox: Mailbox): void {
    mailbox.phase = "dropped";
    mailbox.actor = null;
    this.#table.remove(mailbox);
    this.#redirect(mailbox);
  }

  /** Redirects the callers of waiting commands to the current owner, with the same command ids. */
  #redirect(mailbox: Mailbox): void {
    const all = mailbox.waiting;
    mailbox.waiting = [];
    mailbox.isolateRemaining = 0;
    this.#waitingCount -= all.length;
    for (const one of all) one.resolve(notOwner);
  }

  /** Evicts the actor, because only Redis knows its state. Callers retry with the same command id. */
  #discard(mailbox: Mailbox, batch: Waiting[]): void {
    mailbox.actor = null;
    for (const one of batch) one.resolve(notOwner);
    this.#redirect(mailbox);
  }

  /**
   * The processing loop of one actor. It runs while commands wait, once per mailbox, so at most one commit
   * is in flight.
   */
  async #work(mailbox: Mailbox): Promise<void> {
    mailbox.phase = "working";
    while (mailbox.waiting.length > 0 && mailbox.phase === "working") {
      await this.#step(mailbox);
      for (const done of mailbox.onIdle.splice(0)) done();
    }
    if (mailbox.phase === "working") mailbox.phase = "idle";
    // A code without an actor must not stay in memory.
    if (mailbox.actor?.state === null) this.#evict(mailbox);
  }

  async #step(mailbox: Mailbox): Promise<void> {
    const { placement, log, definition } = this.#deps;
    const token = placement.tokenOf(mailbox.shard);
    if (token === null) return this.#evict(mailbox);
    if (mailbox.isSuspect) mailbox.actor = null;
    const { actor } = mailbox;
    if (!actor) return this.#readBack(mailbox, token);
    const batch = takeBatch(mailbox);
    this.#waitingCount -= batch.length;
    this.#measureWait(mailbox);
    const result = this.#tryBatch(mailbox, actor, batch);
    if (!result) return this.#isolate(mailbox, batch);
    try {
      const isTrue = result.commit
        ? await this.#commit(mailbox, result.commit, token)
        : await this.#isUnchanged(mailbox);
      if (!isTrue) return this.#discard(mailbox, batch);
      if (actor.state && result.commit)
        await this.#follow(mailbox.code, actor.state, result.events, actor.cause);
      this.#answer(mailbox, actor, batch, result);
    } catch (error) {
      const facts = { event: "actor_batch_failed", [definition.kind]: mailbox.code, err: error };
      log.error(facts, "batch of an actor failed, loading it again");
      this.#discard(mailbox, batch);
    }
  }

  /** Of the first command of a batch, which has waited the longest. */
  #measureWait({ waitingSince }: Mailbox): void {
    const { metrics, timing } = this.#deps;
    metrics.mailboxWaitSeconds.observe((timing.elapsed() - waitingSince) / 1_000);
  }

  async #readBack(mailbox: Mailbox, token: string): Promise<void> {
    const { log, definition } = this.#deps;
    const isRead = await this.#reader.read(mailbox, token).catch((error: unknown) => {
      const facts = { event: "actor_load_failed", [definition.kind]: mailbox.code, err: error };
      log.error(facts, "actor could not be loaded");
      return false;
    });
    if (!isRead) this.#discard(mailbox, []);
  }

  #tryBatch(mailbox: Mailbox, actor: Actor, batch: Waiting[]): Batch | null {
    const { definition, now, nextCommitId, log } = this.#deps;
    try {
      return runBatch(definition, actor, batch, now(), nextCommitId());
    } catch (error) {
      const facts = { event: "actor_rules_failed", [definition.kind]: mailbox.code, err: error };
      log.error(facts, "rules of an actor failed, nothing was committed");
      return null;
    }
  }

  /**
   * The rules threw in the middle of a batch: nothing of it is committed, and the actor is loaded again.
   * Deciding the commands individually then shows which of them failed.
   */
  #isolate(mailbox: Mailbox, batch: Waiting[]): void {
    mailbox.actor = null;
    if (batch.length === 1) return batch[0]?.resolve(failedRules);
    mailbox.waiting = [...batch, ...mailbox.waiting];
    mailbox.isolateRemaining = batch.length;
    this.#waitingCount += batch.length;
  }

  /**
   * True if decisions without a change are valid: the shard is still ours, and Redis has the state in
   * memory.
   */
  async #isUnchanged(mailbox: Mailbox): Promise<boolean> {
    try {
      return await this.#deps.placement.confirm(mailbox.shard);
    } catch {
      return false;
    }
  }

  async #commit(mailbox: Mailbox, change: Commit, token: string): Promise<boolean> {
    const { journal, followers, placement, log, definition } = this.#deps;
    const { unacknowledgedSeq, code, shard } = mailbox;
    mailbox.unacknowledgedSeq = Math.max(unacknowledgedSeq, change.seq);
    const outcome = await journal.commit(change, token);
    if (outcome === "committed") {
      mailbox.knownSeq = change.seq;
      mailbox.unacknowledgedSeq = 0;
      mailbox.isStateBehindLog = false;
      followers.committed(change, shard);
      return true;
    }
    if (outcome !== "failed") mailbox.unacknowledgedSeq = unacknowledgedSeq;
    const facts = { event: `commit_${outcome}`, [definition.kind]: code, seq: change.seq };
    followers.inDoubt(code, shard);
    if (outcome === "fenced") placement.fenced(shard, token);
    // The actor is loaded and the commands are retried; after several conflicts it counts as not writable.
    if (outcome === "conflict")
      log.warn(facts, "stored actor differs from memory, loading it again");
    if (outcome === "refused") {
      mailbox.isStateBehindLog = true;
      log.error(facts, "stored state of an actor is behind its log, leaving a gap");
    }
    if (outcome === "silent") log.warn(facts, "nothing written, this process counts as dead");
    // The commit may be in Redis, including a deadline unknown to this process.
    if (outcome === "failed") {
      this.#deadlines.retry(code);
      this.#deps.afterUnknown(code);
    }
    return false;
  }

  /** The commit is done; a failure of the follow-up work must not fail the command. */
  async #follow(code: string, state: BaseState, events: BaseEvent[], cause: Origin): Promise<void> {
    const { afterCommit, log, definition } = this.#deps;
    try {
      await afterCommit(code, state, events, cause);
    } catch (error) {
      const facts = { event: "after_commit_failed", [definition.kind]: code };
      log.warn({ ...facts, reason: String(error) }, "work after a commit failed, retrying");
    }
  }

  #answer(mailbox: Mailbox, actor: Actor, batch: Waiting[], { replies }: Batch): void {
    mailbox.lastUsed = this.#deps.now();
    if (mailbox.phase !== "dropped" && actor.state)
      this.#deadlines.arm(mailbox, actor, actor.state);
    const readType = this.#deps.definition.read.type;
    for (let i = 0; i < batch.length; i++) {
      const waiting = batch[i];
      // Looking at an actor is no activity of it.
      if (waiting?.command.type !== readType) mailbox.numCommands += 1;
      waiting?.resolve(replies[i] ?? unavailable);
    }
  }
}
