import { noOrigin, type Origin } from "../server/platform/origin.ts";
import { keyedId } from "./answers.ts";
import type { CommandSpan } from "./command-span.ts";
import type { Reply } from "./contract.ts";
import type { AnyKind } from "./kind.ts";
import type { Commit } from "./log/journal.ts";
import {
  encodeChange,
  encodeSnapshot,
  generationField,
  stampOf,
  withSeq,
  type StoredRoom,
} from "./log/stored-state.ts";
import type { BaseCommand, BaseEvent, BaseState } from "./rules.ts";
import { countCommand, type SenderCounts } from "./sender-quota.ts";

/** A command for a room. */
export interface Delivery {
  command: BaseCommand;
  id: string;
  origin: Origin;
  /** Its part of a trace; null or none without traces. */
  span?: Pick<CommandSpan, "publish"> | null;
}

/** Result of folding waiting commands: one answer per command, and the changes to commit first. */
export interface Batch {
  replies: Reply[];
  events: BaseEvent[];
  commit: Commit | null;
}

/** What the commands of a batch have changed so far, besides the state. */
interface Changes {
  readonly events: BaseEvent[];
  /** Fields with cached answers. */
  readonly fields: [name: string, value: string][];
  readonly payloads: string[];
}

/** Lifetime of a room that nothing changes, and how often changes renew it (LOB-32). */
const activeTtlMs = 48 * 3_600_000;
const renewalMs = 3_600_000;
/** A pending job is retried after this share of the time it has waited. */
const retryShare = 1 / 8;
const minRetryMs = 500;
const maxRetryMs = 30_000;

/**
 * A room in memory: the committed state plus the changes of the commit in flight. If that commit fails it must be
 * dropped, because it is ahead of Redis.
 */
export class RoomMemory {
  readonly #kind: AnyKind;
  readonly #code: string;
  /** As stored, with the changes of the commit in flight. */
  readonly #room: StoredRoom;
  readonly #counts: SenderCounts = new Map();
  /** State that the rules keep in memory only. */
  readonly #memo: unknown;
  #cause: Origin = noOrigin;
  /** When this owner last renewed the lifetime of the stored room. */
  #renewedAt = -Infinity;
  /** Deadline that Redis has since the last commit; undefined until this owner's first commit has written it. */
  #storedDue: number | null | undefined;

  /** `generation` is that of the shard, for a new room. */
  constructor(kind: AnyKind, code: string, stored: StoredRoom, now: number, generation = 0) {
    this.#kind = kind;
    this.#code = code;
    this.#room = stored.state ? stored : { ...stored, generation };
    this.#memo = kind.ephemeral?.create(stored.state, now) ?? null;
  }

  get state(): BaseState | null {
    return this.#room.state;
  }

  /**
   * Origin of the last command that changed the room here, for its jobs; deadlines do not replace it. A new owner
   * starts without one.
   */
  get cause(): Origin {
    return this.#cause;
  }

  get generation(): number {
    return this.#room.generation;
  }

  /** Identifies the last commit. */
  get stamp(): string {
    return stampOf(this.#room.version, this.#room.commitId);
  }

  /** When the room has to be ticked; Infinity for never. A pending job has been started, so only its retry is due. */
  deadline(state: BaseState, now: number): number {
    const retryAt = nextRetry(this.#kind.jobs, state, now);
    if (retryAt !== null) return retryAt;
    const ofMemo = this.#kind.ephemeral?.nextDeadline(this.#memo, state, now) ?? Infinity;
    return Math.min(this.#kind.nextDeadline(state) ?? Infinity, ofMemo);
  }

  forgetCounts(): void {
    this.#counts.clear();
  }

  /** Decides the commands one after another and folds their events. */
  decide(commands: readonly Delivery[], now: number, commitId: string): Batch {
    const before = this.#room.state;
    const changes: Changes = { events: [], fields: [], payloads: [] };
    const replies = commands.map((delivery) => this.#decideOne(changes, delivery, now));
    const { events, fields } = changes;
    const state = this.#room.state;
    const isChanged = events.length > 0 || fields.length > 0;
    if (!isChanged || !state) return { replies, events, commit: null };
    const wasFinished = before !== null && this.#kind.isFinished(before);
    const hasEnded = this.#kind.isFinished(state) && !wasFinished;
    return { replies, events, commit: this.#seal(state, changes, hasEnded, commitId, now) };
  }

  /**
   * The change after a loss of events up to number `lostSeq`, in this generation of the shard. The next number stays
   * unused, so that a client that reads across the loss finds a gap and takes a snapshot (HUB-06).
   */
  leaveGap(state: BaseState, lostSeq: number, generation: number, now: number, id: string): Commit {
    const kind = this.#kind;
    const room = this.#room;
    const expected = this.stamp;
    const seq = lostSeq + 2;
    const restored = { ...state, seq };
    const change = encodeSnapshot(restored, room.version + 1, room.snapshotVersion);
    room.generation = generation;
    room.state = restored;
    room.version = room.snapshotVersion = change.snapshotVersion;
    room.commitId = id;
    return {
      code: this.#code,
      expected,
      version: room.version,
      id,
      seq,
      fields: generation > 0 ? [...change.fields, this.#generationEntry()] : change.fields,
      removedFields: change.removed,
      payloads: [this.#message(restored, `${kind.kind}.gap`, now, {})],
      ttlMs: null,
      due: this.#changedDue(kind.nextDeadline(restored)),
    };
  }

  #decideOne(changes: Changes, delivery: Delivery, now: number): Reply {
    const { command: given, id, origin, span } = delivery;
    const kind = this.#kind;
    const { idempotency, ephemeral } = kind;
    const answers = this.#room.answers;
    const command = ephemeral ? ephemeral.complete(this.#memo, given, now) : given;
    const sender = idempotency.senderOf(this.#room.state, command, id, answers);
    const early = sender === null ? null : this.#replyBeforeRules(command, sender, id, now);
    if (early) return early;
    const decision = kind.decide(this.#room.state, command, now);
    const isAlwaysKept =
      idempotency.isAlwaysRemembered?.(command) === true &&
      id.startsWith(keyedId(command.type, ""));
    if (!decision.ok) {
      const { rejection } = decision;
      const isFinal =
        isAlwaysKept && idempotency.isFinalRefusal?.(rejection.code, this.#room.state) === true;
      if (isFinal && sender !== null)
        changes.fields.push(answers.putRefusal(sender, id, rejection.code));
      return { ok: false, ...rejection };
    }
    const leaver = idempotency.leaverOf?.(this.#room.state, command, sender) ?? null;
    if (decision.events.length > 0 && origin !== noOrigin) this.#cause = origin;
    for (const event of decision.events) {
      this.#apply(changes, event);
      const type = span && kind.messages[event.type];
      if (type) span.publish(type, this.#room.state?.seq ?? 0);
    }
    const body = this.#room.state ? kind.reply(this.#room.state, decision.answer, now) : null;
    const isKept =
      isAlwaysKept ||
      (decision.events.length > 0 && idempotency.isIdempotent?.(command, decision.answer) !== true);
    // A command that takes a seat has its sender only now.
    const keptBy = isKept
      ? (sender ?? idempotency.senderOf(this.#room.state, command, id, answers))
      : null;
    if (keptBy !== null) changes.fields.push(answers.put(keptBy, id, body, leaver));
    return { ok: true, body };
  }

  /** The refusal of a sender with too many commands, or the cached answer of a repeat, which counts as one too. */
  #replyBeforeRules(command: BaseCommand, sender: number, id: string, now: number): Reply | null {
    const { perSender, uncounted } = this.#kind.limits;
    const isCounted = perSender !== null && uncounted?.includes(command.type) !== true;
    const wait = isCounted ? countCommand(this.#counts, sender, now, perSender) : null;
    if (wait === null) return this.#room.answers.get(sender, id);
    return { ok: false, code: "rate_limit:exceeded", params: { retry_after: wait } };
  }

  #apply({ events, fields, payloads }: Changes, event: BaseEvent): void {
    const kind = this.#kind;
    const type = kind.messages[event.type];
    const state = withSeq(kind.evolve(this.#room.state, event), this.#room.state, Boolean(type));
    this.#room.state = state;
    if (type) payloads.push(this.#message(state, type, event.at, kind.message(state, event)));
    events.push(event);
    const voided = kind.idempotency.voids?.[event.type];
    if (voided !== undefined) fields.push(...this.#room.answers.invalidate(voided));
  }

  #seal(state: BaseState, changes: Changes, hasEnded: boolean, id: string, now: number): Commit {
    const { events, fields: remembered, payloads } = changes;
    const kind = this.#kind;
    const room = this.#room;
    const expected = this.stamp;
    room.version += 1;
    room.commitId = id;
    const change = encodeChange(state, events, room.version, room.snapshotVersion);
    const isSnapshot = change.snapshotVersion !== room.snapshotVersion;
    room.snapshotVersion = change.snapshotVersion;
    const { removed } = change;
    const present = kind.idempotency.presentAfter?.(state, events) ?? null;
    const forgotten = present === null ? [] : this.#removeDeparted(present);
    const kept =
      forgotten.length === 0
        ? remembered
        : remembered.filter(([name]) => !forgotten.includes(name));
    const fields = change.fields.concat(kept);
    removed.push(...forgotten);
    // A new room gets no TTL: its stream begins only with the first message.
    const isBeginning = expected === "" || state.seq === payloads.length;
    const isRenewal = isBeginning || isSnapshot || now - this.#renewedAt >= renewalMs;
    if (isRenewal) this.#renewedAt = now;
    if (expected === "" && room.generation > 0) fields.push(this.#generationEntry());
    if (hasEnded && kind.result) fields.push(["r", JSON.stringify(kind.result(state))]);
    return {
      code: this.#code,
      expected,
      version: room.version,
      id,
      seq: state.seq,
      fields,
      removedFields: removed,
      payloads,
      ttlMs: ttlOf(kind, state, isRenewal, hasEnded),
      due: this.#changedDue(kind.nextDeadline(state)),
    };
  }

  /** The deadline if Redis has a different one; most commands of a game do not change it. */
  #changedDue(due: number | null): number | null | undefined {
    if (due === this.#storedDue) return undefined;
    this.#storedDue = due;
    return due;
  }

  #generationEntry(): [string, string] {
    return [generationField, String(this.#room.generation)];
  }

  #removeDeparted(present: ReadonlySet<number>): string[] {
    for (const sender of this.#counts.keys()) if (!present.has(sender)) this.#counts.delete(sender);
    return this.#room.answers.removeDeparted(present);
  }

  #message({ seq }: BaseState, type: string, at: number, data: Record<string, unknown>): string {
    return JSON.stringify({ type, topic: this.#kind.topic(this.#code), seq, at_ms: at, data });
  }
}

function ttlOf(
  kind: AnyKind,
  state: BaseState,
  isRenewal: boolean,
  hasEnded: boolean,
): number | null {
  if (hasEnded) return kind.limits.finishedTtlMs;
  return isRenewal && !kind.isFinished(state) ? activeTtlMs : null;
}

/** Next retry of a pending job; null without one, or if only deadlines of the rules retry it. */
function nextRetry(jobs: AnyKind["jobs"], state: BaseState, now: number): number | null {
  let next: number | null = null;
  for (const name in jobs) {
    const job = jobs[name];
    if (!job?.pendingSince || !job.isPending(state)) continue;
    const waited = (now - job.pendingSince(state)) * retryShare;
    const at = now + Math.min(maxRetryMs, Math.max(minRetryMs, waited));
    next = next === null ? at : Math.min(next, at);
  }
  return next;
}
