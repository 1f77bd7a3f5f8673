import type { AnyActor, BaseCommand, BaseEvent, BaseState, Leaver, Reply } from "../definition.ts";
import { noOrigin, type Origin } from "../../../server/platform/origin.ts";
import type { Commit } from "../storage/journal.ts";
import {
  encodeChange,
  encodeSnapshot,
  generationField,
  stampOf,
  withSeq,
  type StoredActor,
} from "../storage/stored-state.ts";
import { keyedId } from "./command-id.ts";
import type { IdempotencyCache } from "./idempotency-cache.ts";
import { countCommand, type SenderCounts } from "./sender-quota.ts";

/** An actor in memory: the committed state plus the changes of the commit in flight. */
export interface Actor {
  readonly code: string;
  state: BaseState | null;
  version: number;
  /** Id of the last commit, including one in flight. */
  commitId: string;
  snapshotVersion: number;
  answers: IdempotencyCache;
  counts: SenderCounts;
  /** State the definition keeps in memory only. */
  memo: unknown;
  /**
   * Origin of the last command that changed the actor here, for its jobs; deadlines do not replace it. A new owner
   * starts without one.
   */
  cause: Origin;
  /** Generation of the shard in which its events got their numbers. */
  generation: number;
  /**
   * Deadline that Redis has since the last commit; undefined until this owner's first commit has written
   * it.
   */
  storedDue: number | null | undefined;
}

/** A command for an actor. */
export interface Delivery {
  command: BaseCommand;
  id: string;
  origin: Origin;
}

/** Result of folding waiting commands: one answer per command, and the changes to commit first. */
export interface Batch {
  replies: Reply[];
  events: BaseEvent[];
  commit: Commit | null;
}

const activeTtlMs = 48 * 3_600_000;

/** `generation` is that of the shard, for a new actor. */
export function actorOf(
  definition: AnyActor,
  code: string,
  stored: StoredActor,
  now: number,
  generation = 0,
): Actor {
  const { state, version, commitId, snapshotVersion, answers } = stored;
  return {
    code,
    state,
    version,
    commitId,
    snapshotVersion,
    answers,
    counts: new Map(),
    memo: definition.ephemeral?.create(state, now) ?? null,
    cause: noOrigin,
    generation: state ? stored.generation : generation,
    storedDue: undefined,
  };
}

/** What a batch has changed so far, besides the state of its actor. */
interface Progress {
  readonly definition: AnyActor;
  readonly actor: Actor;
  readonly now: number;
  readonly events: BaseEvent[];
  /** Fields with cached answers. */
  readonly fields: [string, string][];
  readonly payloads: string[];
}

/**
 * Decides the commands one after another, folds their events, and changes the actor in place. If the commit
 * of the batch fails the actor must be dropped, because its memory is ahead of Redis.
 */
export function runBatch(
  definition: AnyActor,
  actor: Actor,
  commands: Delivery[],
  now: number,
  commitId: string,
): Batch {
  const before = actor.state;
  const progress: Progress = { definition, actor, now, events: [], fields: [], payloads: [] };
  const replies = commands.map((delivery) => decideOne(progress, delivery));
  const { state } = actor;
  const { events, fields, payloads } = progress;
  const isChanged = events.length > 0 || fields.length > 0;
  if (!isChanged || !state) return { replies, events, commit: null };
  const hasEnded = definition.isFinished(state) && !(before && definition.isFinished(before));
  const change = { state, hasEnded, events, fields, payloads };
  return { replies, events, commit: sealBatch(definition, actor, change, commitId) };
}

function decideOne(progress: Progress, { command: given, id, origin }: Delivery): Reply {
  const { definition, actor, now } = progress;
  const { idempotency, ephemeral } = definition;
  const { answers } = actor;
  const command = ephemeral ? ephemeral.complete(actor.memo, given, now) : given;
  const sender = idempotency.senderOf(actor.state, command, id, answers);
  const early = sender === null ? null : replyBeforeRules(progress, command, sender, id);
  if (early) return early;
  const decision = definition.decide(actor.state, command, now);
  const isAlwaysKept =
    idempotency.isAlwaysRemembered?.(command) === true && id.startsWith(keyedId(command.type, ""));
  if (!decision.ok) {
    const { rejection } = decision;
    const isFinal =
      isAlwaysKept && idempotency.isFinalRefusal?.(rejection.code, actor.state) === true;
    if (isFinal && sender !== null)
      progress.fields.push(answers.putRefusal(sender, id, rejection.code));
    return { ok: false, ...rejection };
  }
  const leaver: Leaver | null = idempotency.leaverOf?.(actor.state, command, sender) ?? null;
  if (decision.events.length > 0 && origin !== noOrigin) actor.cause = origin;
  for (const event of decision.events) applyEvent(progress, event);
  const body = actor.state ? definition.reply(actor.state, decision.answer, now) : null;
  const isKept =
    isAlwaysKept ||
    (decision.events.length > 0 && idempotency.isIdempotent?.(command, decision.answer) !== true);
  // A command that takes a seat has its sender only now.
  const keptBy = isKept
    ? (sender ?? idempotency.senderOf(actor.state, command, id, answers))
    : null;
  if (keptBy !== null) progress.fields.push(answers.put(keptBy, id, body, leaver));
  return { ok: true, body };
}

/** The refusal of a sender with too many commands, or the cached answer of a repeat, which counts as one too. */
function replyBeforeRules(
  { definition, actor, now }: Progress,
  command: BaseCommand,
  sender: number,
  id: string,
): Reply | null {
  const wait = countFor(definition, actor, command, sender, now);
  if (wait === null) return actor.answers.get(sender, id);
  return { ok: false, code: "rate_limit:exceeded", params: { retry_after: wait } };
}

function applyEvent(
  { definition, actor, events, fields, payloads }: Progress,
  event: BaseEvent,
): void {
  const type = definition.messages[event.type];
  const state = withSeq(definition.evolve(actor.state, event), actor.state, Boolean(type));
  actor.state = state;
  if (type) {
    const data = definition.message(state, event);
    payloads.push(encodeMessage(definition, actor.code, state, type, event.at, data));
  }
  events.push(event);
  const voided = definition.idempotency.voids?.[event.type];
  if (voided !== undefined) fields.push(...actor.answers.invalidate(voided));
}

/** Counts a command of a sender. Returns the seconds to wait if it exceeds the limit, else null. */
function countFor(
  { limits }: AnyActor,
  actor: Actor,
  command: BaseCommand,
  sender: number,
  now: number,
): number | null {
  if (!limits.perSender || limits.uncounted?.includes(command.type)) return null;
  return countCommand(actor.counts, sender, now, limits.perSender);
}

/** The changes of a batch to an actor. */
interface BatchChange {
  state: BaseState;
  hasEnded: boolean;
  events: readonly BaseEvent[];
  /** Fields with cached answers. */
  fields: [string, string][];
  payloads: string[];
}

function sealBatch(
  definition: AnyActor,
  actor: Actor,
  { state, hasEnded, events, fields: remembered, payloads }: BatchChange,
  id: string,
): Commit {
  const expected = stampOf(actor.version, actor.commitId);
  actor.version += 1;
  actor.commitId = id;
  const change = encodeChange(state, events, actor.version, actor.snapshotVersion);
  const isSnapshot = change.snapshotVersion !== actor.snapshotVersion;
  actor.snapshotVersion = change.snapshotVersion;
  const { removed } = change;
  const present = definition.idempotency.presentAfter?.(state, events) ?? null;
  const forgotten = present === null ? [] : removeDeparted(actor, present);
  const kept = forgotten.length === 0 ? remembered : withoutNames(remembered, forgotten);
  const fields = change.fields.concat(kept);
  removed.push(...forgotten);
  // A new actor gets no TTL: its stream begins only with the first message.
  const isBeginning = expected === "" || state.seq === payloads.length;
  if (expected === "" && actor.generation > 0) fields.push(generationOf(actor));
  if (hasEnded && definition.result) fields.push(["r", JSON.stringify(definition.result(state))]);
  return {
    code: actor.code,
    expected,
    version: actor.version,
    id,
    seq: state.seq,
    fields,
    removedFields: removed,
    payloads,
    ttlMs: ttlOf(definition, state, isBeginning || isSnapshot, hasEnded),
    due: changedDue(actor, definition.nextDeadline(state)),
  };
}

/** The deadline if Redis has a different one; most commands of a game do not change it. */
function changedDue(actor: Actor, due: number | null): number | null | undefined {
  if (due === actor.storedDue) return undefined;
  actor.storedDue = due;
  return due;
}

function generationOf({ generation }: Actor): [string, string] {
  return [generationField, String(generation)];
}

function withoutNames(fields: [string, string][], names: string[]): [string, string][] {
  return fields.filter(([name]) => !names.includes(name));
}

/**
 * The change after a loss of events up to number `lostSeq`. The next number stays unused, so that a client
 * that reads across the loss finds a gap and takes a snapshot (HUB-06).
 */
export function leaveGap(
  definition: AnyActor,
  actor: Actor,
  state: BaseState,
  lostSeq: number,
  now: number,
  id: string,
): Commit {
  const expected = stampOf(actor.version, actor.commitId);
  const seq = lostSeq + 2;
  const restored = { ...state, seq };
  const change = encodeSnapshot(restored, actor.version + 1, actor.snapshotVersion);
  actor.state = restored;
  actor.version = actor.snapshotVersion = change.snapshotVersion;
  actor.commitId = id;
  const type = `${definition.kind}.gap`;
  return {
    code: actor.code,
    expected,
    version: actor.version,
    id,
    seq,
    fields: actor.generation > 0 ? [...change.fields, generationOf(actor)] : change.fields,
    removedFields: change.removed,
    payloads: [encodeMessage(definition, actor.code, restored, type, now, {})],
    ttlMs: null,
    due: changedDue(actor, definition.nextDeadline(restored)),
  };
}

function removeDeparted({ counts, answers }: Actor, present: ReadonlySet<number>): string[] {
  for (const sender of counts.keys()) if (!present.has(sender)) counts.delete(sender);
  return answers.removeDeparted(present);
}

function ttlOf(
  definition: AnyActor,
  state: BaseState,
  isRenewal: boolean,
  hasEnded: boolean,
): number | null {
  if (hasEnded) return definition.limits.finishedTtlMs;
  return isRenewal && !definition.isFinished(state) ? activeTtlMs : null;
}

function encodeMessage(
  definition: AnyActor,
  code: string,
  { seq }: BaseState,
  type: string,
  at: number,
  data: Record<string, unknown>,
): string {
  return JSON.stringify({ type, topic: definition.topic(code), seq, at_ms: at, data });
}
