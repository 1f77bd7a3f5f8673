import type { Origin } from "../server/platform/origin.ts";
import type { Tracer } from "../server/platform/tracing/tracer.ts";
import type { Leases } from "./cluster/leases.ts";
import { CommandSpan, type CommandStep } from "./command-span.ts";
import type { Connection } from "./log/connection.ts";
import type { Commit, Journal } from "./log/journal.ts";
import { hashText } from "./log/keys.ts";
import { loadRoom } from "./log/stored-state.ts";
import { RoomMemory, type Batch, type Delivery } from "./memory.ts";
import { notOwner, unavailable, type Outcome } from "./outcome.ts";
import type { BaseCommand, BaseEvent, BaseState } from "./rules.ts";
import type { Shared } from "./shared.ts";
import type { Signal } from "./signal.ts";
import { retryMs, type Ticker } from "./ticker.ts";
import type { CommitFollowers } from "./wire/commit-followers.ts";

/** Maximum number of commands waiting for one room; more are refused, so that a hot room affects only itself. */
const maxWaitingPerRoom = 64;
/** Maximum number of commands waiting in the whole process. */
const maxWaiting = 20_000;
/** More than the number of events that a room can publish within the time a failing Redis can lose. */
const maxLostEvents = 1_000;
const strides = 1_000_000;
const failedRules: Outcome = { ok: false, code: "server:error" };

/** What the rooms of a process share. */
export interface RoomHost extends Pick<
  Shared,
  "kind" | "keys" | "timing" | "log" | "tracer" | "clock" | "newId"
> {
  redis: Pick<Connection, "hgetall">;
  journal: Pick<Journal, "commit" | "provesUnsent">;
  followers: Pick<CommitFollowers, "committed" | "inDoubt">;
  leases: Pick<Leases, "tokenOf" | "generationOf" | "isIntact" | "confirm" | "fenced">;
  ticker: Pick<Ticker, "arm">;
  metrics: Pick<Shared["metrics"], "mailboxWaitSeconds">;
  /** Number of commands that wait in all rooms; more than the maximum are refused. */
  queue: { length: number };
  /** A commit is in Redis; replies wait for the handlers, whose failure does not fail the command. */
  committed: Signal<[code: string, state: BaseState, events: readonly BaseEvent[], cause: Origin]>;
  /** The outcome of a commit is unknown: work that follows it may be missing. */
  doubted: Signal<[code: string]>;
  /** A room was loaded or ticked: a dead owner may have left work. */
  loaded: Signal<[code: string, state: BaseState, cause: Origin]>;
  /** Removes a room from memory. */
  remove: (room: Room) => void;
}

/** Numbers of events that this process knows of a room. Redis is below them only after a loss. */
export interface KnownNumbers {
  /** The last event that it saw committed. */
  seq: number;
  /** The last event of a commit in flight or with unknown outcome, which may have been published; 0 without one. */
  unacknowledgedSeq: number;
}

/** A room about which this process knows more than Redis may have stored. */
export interface SuspectRoom extends KnownNumbers {
  code: string;
  /** Stamp of the last commit; null if its outcome is unknown. */
  stamp: string | null;
}

interface Waiting extends Delivery {
  span: CommandSpan | null;
  resolve: (outcome: Outcome) => void;
}

/** One room of this process: its queue, its state in memory, at most one commit in flight. */
export class Room {
  readonly code: string;
  readonly shard: number;
  readonly #host: RoomHost;
  /** Dropped: the shard was lost; work still running for it has no effect. */
  #phase: "idle" | "working" | "dropped" = "idle";
  #memory: RoomMemory | null = null;
  #waiting: Waiting[] = [];
  /** When the first of them arrived, in elapsed time. */
  #waitingSince = 0;
  /** This many waiting commands are decided individually, because the rules threw for them as a batch. */
  #isolateRemaining = 0;
  /** The deadline in the ticker; never later than the next one. */
  #armed: number | null = null;
  #lastUsedAt: number;
  /** Commands answered since the room was opened here, ticks included and reads not. */
  #numCommands = 0;
  #onIdle: (() => void)[] = [];
  /** Redis may be behind the memory: the room is loaded again before the next batch. */
  #isSuspect = false;
  /** The stream has numbers that the state lacks: Redis lost more of the state than of the stream. */
  #isStateBehindLog = false;
  readonly #known: KnownNumbers;

  constructor(host: RoomHost, code: string, shard: number, known: KnownNumbers) {
    this.#host = host;
    this.code = code;
    this.shard = shard;
    this.#known = { seq: known.seq, unacknowledgedSeq: known.unacknowledgedSeq };
    this.#lastUsedAt = host.clock.now();
  }

  /** Queues a command; resolves when its effect is committed. */
  take(command: BaseCommand, id: string, origin: Origin): Promise<Outcome> {
    const { queue, timing, tracer } = this.#host;
    if (this.#waiting.length >= maxWaitingPerRoom || queue.length >= maxWaiting)
      return Promise.resolve(unavailable);
    queue.length += 1;
    if (this.#waiting.length === 0) this.#waitingSince = timing.elapsed();
    const outcome = new Promise<Outcome>((resolve) => {
      const waiting = { command, id, origin, span: null, resolve };
      this.#waiting.push(tracer === null ? waiting : this.#traced(waiting, tracer));
    });
    if (this.#phase === "idle") void this.#work();
    return outcome;
  }

  /** A command of a traced request, as a part of it; what it causes goes back to that part. */
  #traced(waiting: Waiting, tracer: Tracer): Waiting {
    const { origin, command, resolve } = waiting;
    if (origin.traceparent === undefined) return waiting;
    const { kind, timing } = this.#host;
    const about = { type: command.type, origin, startMs: timing.elapsed() };
    const span = new CommandSpan(tracer, kind, this.code, about);
    return {
      ...waiting,
      origin: { ...origin, traceparent: span.traceparent },
      span,
      resolve: (outcome) => {
        span.end(outcome, timing.elapsed());
        resolve(outcome);
      },
    };
  }

  #begin(step: CommandStep, batch: readonly Waiting[]): void {
    if (this.#host.tracer === null) return;
    const now = this.#host.timing.elapsed();
    for (const { span } of batch) span?.begin(step, now);
  }

  get isWorking(): boolean {
    return this.#phase === "working";
  }

  /** Resolves when nothing is in flight. */
  idle(): Promise<void> {
    return this.isWorking ? new Promise((done) => this.#onIdle.push(done)) : Promise.resolve();
  }

  /** The committed state, once no commit is in flight; null if the room is not in memory. */
  committedState(): Promise<BaseState | null> {
    if (!this.isWorking) return Promise.resolve(this.state);
    // Read at once: the next batch changes the memory before it is committed.
    return new Promise((resolve) => this.#onIdle.push(() => resolve(this.state)));
  }

  get numCommands(): number {
    return this.#numCommands;
  }

  /** As decided so far, for operators; null if the room is not loaded. */
  get state(): BaseState | null {
    return this.#memory?.state ?? null;
  }

  get lastUsedAt(): number {
    return this.#lastUsedAt;
  }

  /** The connection to Redis was lost: nothing in memory is served until it is verified. */
  suspect(): void {
    this.#isSuspect = true;
  }

  /** Redis has what is in memory. */
  verified(): void {
    this.#isSuspect = false;
  }

  /** What Redis has to be compared with; null if no client can have received an event. */
  get evidence(): SuspectRoom | null {
    const { seq, unacknowledgedSeq } = this.#known;
    if (seq === 0 && unacknowledgedSeq === 0) return null;
    const stamp = this.isWorking ? null : (this.#memory?.stamp ?? null);
    return { code: this.code, seq, unacknowledgedSeq, stamp };
  }

  /** It is uncertain whether Redis has everything that this process knows. */
  get isUnsure(): boolean {
    const isDoubted = this.#memory === null && this.#known.unacknowledgedSeq > 0;
    return this.#isSuspect || isDoubted;
  }

  /** The shard was lost: callers of waiting commands are redirected to the owner, with the same ids. */
  drop(): void {
    this.#phase = "dropped";
    this.#memory = null;
    this.#host.remove(this);
    this.#redirect();
  }

  /** Forgets counts whose window is over; true if the room has had no work for `idleMs`. */
  rest(now: number, windowMs: number, idleMs: number): boolean {
    if (this.isWorking || this.#waiting.length > 0) return false;
    if (this.#lastUsedAt < now - windowMs) this.#memory?.forgetCounts();
    return this.#lastUsedAt < now - idleMs;
  }

  /** Arms a deadline; an earlier armed one stays. */
  arm(due: number): void {
    if (this.#armed !== null && this.#armed <= due) return;
    this.#armed = due;
    this.#host.ticker.arm(this.code, due);
  }

  /** The armed deadline has passed. */
  disarm(): void {
    this.#armed = null;
  }

  /** After a tick: a job that is still pending may have been left by a dead owner. */
  resumeWork(): void {
    const memory = this.#memory;
    if (memory?.state) this.#host.loaded.emit(this.code, memory.state, memory.cause);
  }

  /** Runs while commands wait, once per room, so at most one commit is in flight. */
  async #work(): Promise<void> {
    this.#phase = "working";
    while (this.#waiting.length > 0 && this.#phase === "working") {
      await this.#step();
      for (const done of this.#onIdle.splice(0)) done();
    }
    if (this.#phase === "working") this.#phase = "idle";
    // A code without a room must not stay in memory.
    if (this.#memory?.state === null) this.drop();
  }

  async #step(): Promise<void> {
    const token = this.#host.leases.tokenOf(this.shard);
    if (token === null) return this.drop();
    if (this.#isSuspect) this.#memory = null;
    const memory = this.#memory;
    if (!memory) return this.#reload(token);
    const batch = this.#takeBatch();
    this.#begin("decide", batch);
    const result = this.#decide(memory, batch);
    if (!result) return this.#isolate(batch);
    this.#begin("commit", batch);
    try {
      // Decisions without a change are valid if the shard is still ours, because Redis has the state in memory then.
      const isTrue = await (result.commit
        ? this.#commit(result.commit, token)
        : this.#host.leases.confirm(this.shard).catch(() => false));
      if (!isTrue) return this.#discard(batch);
      this.#begin("follow", batch);
      if (memory.state && result.commit) await this.#follow(memory.state, result, memory.cause);
      this.#answer(memory, batch, result);
    } catch (error) {
      this.#fail("actor_batch_failed", error, "batch of a room failed, loading it again");
      this.#discard(batch);
    }
  }

  /** The commands to decide together: all waiting ones. */
  #takeBatch(): Waiting[] {
    const { queue, metrics, timing } = this.#host;
    const isAlone = this.#isolateRemaining > 0;
    const batch = isAlone ? this.#waiting.slice(0, 1) : this.#waiting;
    this.#waiting = isAlone ? this.#waiting.slice(1) : [];
    if (isAlone) this.#isolateRemaining -= 1;
    queue.length -= batch.length;
    // Of the first command, which has waited the longest.
    metrics.mailboxWaitSeconds.observe((timing.elapsed() - this.#waitingSince) / 1_000);
    return batch;
  }

  #decide(memory: RoomMemory, batch: readonly Waiting[]): Batch | null {
    const { clock, newId } = this.#host;
    try {
      return memory.decide(batch, clock.now(), newId());
    } catch (error) {
      this.#fail("actor_rules_failed", error, "rules of a room failed, nothing was committed");
      return null;
    }
  }

  /**
   * The rules threw in the middle of a batch: nothing of it is committed, and the room is loaded again.
   * Deciding the commands individually then shows which of them failed.
   */
  #isolate(batch: Waiting[]): void {
    this.#memory = null;
    if (batch.length === 1) return batch[0]?.resolve(failedRules);
    this.#waiting = [...batch, ...this.#waiting];
    this.#isolateRemaining = batch.length;
    this.#host.queue.length += batch.length;
  }

  async #commit(change: Commit, token: string): Promise<boolean> {
    const { journal, followers, leases, ticker, clock, doubted, log } = this.#host;
    const known = this.#known;
    const { unacknowledgedSeq } = known;
    known.unacknowledgedSeq = Math.max(unacknowledgedSeq, change.seq);
    const outcome = await journal.commit(change, token);
    if (outcome === "committed") {
      known.seq = change.seq;
      known.unacknowledgedSeq = 0;
      this.#isStateBehindLog = false;
      followers.committed(change, this.shard);
      return true;
    }
    // A refusal does not prove that nothing was published: it may answer a script that was sent again, because Redis
    // had stored the first one, died before it replied, and lost it.
    if (journal.provesUnsent(outcome)) known.unacknowledgedSeq = unacknowledgedSeq;
    const facts = { event: `commit_${outcome}`, ...this.#name, seq: change.seq };
    followers.inDoubt(this.code, this.shard);
    if (outcome === "fenced") leases.fenced(this.shard, token);
    // The room is loaded and the commands are retried; after several conflicts it counts as not writable.
    if (outcome === "conflict")
      log.warn(facts, "stored room differs from memory, loading it again");
    if (outcome === "refused") {
      this.#isStateBehindLog = true;
      log.error(facts, "stored state of a room is behind its log, leaving a gap");
    }
    if (outcome === "silent") log.warn(facts, "nothing written, this process counts as dead");
    // The commit may be in Redis, including a deadline unknown to this process.
    if (outcome === "failed") {
      ticker.arm(this.code, clock.now() + retryMs);
      doubted.emit(this.code);
    }
    return false;
  }

  /** The commit is done; a failure of the work that follows must not fail the command. */
  async #follow(state: BaseState, { events }: Batch, cause: Origin): Promise<void> {
    await this.#host.committed.settle(this.code, state, events, cause).catch((error: unknown) => {
      const facts = { event: "after_commit_failed", ...this.#name, reason: String(error) };
      this.#host.log.warn(facts, "work after a commit failed, retrying");
    });
  }

  #answer(memory: RoomMemory, batch: readonly Waiting[], { replies }: Batch): void {
    this.#lastUsedAt = this.#host.clock.now();
    if (this.#phase !== "dropped" && memory.state) {
      const due = memory.deadline(memory.state, this.#lastUsedAt);
      if (due !== Infinity) this.arm(due);
    }
    const readType = this.#host.kind.read.type;
    for (const [i, { command, resolve }] of batch.entries()) {
      // Looking at a room is no activity of it.
      if (command.type !== readType) this.#numCommands += 1;
      resolve(replies[i] ?? unavailable);
    }
  }

  /** Only Redis knows the state: callers retry with the same command ids. */
  #discard(batch: readonly Waiting[]): void {
    this.#memory = null;
    for (const { resolve } of batch) resolve(notOwner);
    this.#redirect();
  }

  #redirect(): void {
    const all = this.#waiting;
    this.#waiting = [];
    this.#isolateRemaining = 0;
    this.#host.queue.length -= all.length;
    for (const { resolve } of all) resolve(notOwner);
  }

  async #reload(token: string): Promise<void> {
    const isLoaded = await this.#load(token).catch((error: unknown) => {
      this.#fail("actor_load_failed", error, "room could not be loaded");
      return false;
    });
    if (!isLoaded) this.#discard([]);
  }

  /** Loads the room from Redis; false if that failed. */
  async #load(token: string): Promise<boolean> {
    const { kind, keys, redis, log, clock, leases, loaded } = this.#host;
    this.#isSuspect = false;
    let memory: RoomMemory;
    let published: number;
    try {
      const stored = await loadRoom(redis, keys.state(this.code), kind);
      const generation = leases.generationOf(this.shard);
      memory = new RoomMemory(kind, this.code, stored, clock.now(), generation);
      published = await this.#publishedSeq(memory.state?.seq ?? 0);
    } catch (error) {
      const facts = { event: "actor_read_failed", ...this.#name, reason: String(error) };
      log.warn(facts, "room could not be read, retrying");
      return false;
    }
    // The shard was lost meanwhile: nothing more is committed under its token.
    if (this.#phase === "dropped") return false;
    if (!(await this.#skipLost(memory, published, token))) return false;
    this.#memory = memory;
    this.#known.unacknowledgedSeq = 0;
    if (!memory.state) return true;
    this.#known.seq = memory.state.seq;
    loaded.emit(this.code, memory.state, memory.cause);
    return true;
  }

  /** Number of the last event that any client may have received. */
  async #publishedSeq(stored: number): Promise<number> {
    const { seq, unacknowledgedSeq } = this.#known;
    if (unacknowledgedSeq <= stored || (await this.#host.leases.isIntact(this.shard))) return seq;
    return Math.max(seq, unacknowledgedSeq);
  }

  /**
   * Redis lost published events, or may have: their numbers are not reused, and the gap in the numbers
   * informs every client.
   */
  async #skipLost(memory: RoomMemory, published: number, token: string): Promise<boolean> {
    const { kind, log, clock, leases, newId } = this.#host;
    const { state } = memory;
    if (!state) return true;
    const generation = leases.generationOf(this.shard);
    const isOlder = memory.generation < generation && !kind.isFinished(state);
    const mayLack = isOlder || this.#isStateBehindLog;
    const last = Math.max(published, mayLack ? state.seq + this.#jump() : 0);
    if (state.seq >= last) return true;
    const facts = { event: "actor_events_lost", ...this.#name, seq: published };
    if (this.#known.seq > state.seq) log.error(facts, "Redis lost events of a room");
    else log.warn(facts, "Redis may have lost events of a room");
    return this.#commit(memory.leaveGap(state, last, generation, clock.now(), newId()), token);
  }

  /** Redis may lose writes a second time, so each owner continues at a different number. */
  #jump(): number {
    return maxLostEvents * (1 + (hashText(this.#host.newId()) % strides));
  }

  get #name(): Record<string, string> {
    return { [this.#host.kind.kind]: this.code };
  }

  #fail(event: string, err: unknown, text: string): void {
    this.#host.log.error({ event, ...this.#name, err }, text);
  }
}
