import type { LobbyReply } from "../../contract.ts";
import { answerBody } from "../../lobby/answers.ts";
import { nextDeadline } from "../../lobby/deadlines.ts";
import { decide } from "../../lobby/decide.ts";
import { evolve } from "../../lobby/evolve.ts";
import { finishedKeepMs } from "../../lobby/limits.ts";
import { messageOf } from "../../lobby/messages.ts";
import { resultSheet } from "../../lobby/result-sheet.ts";
import type { WireContext } from "../../lobby/snapshot.ts";
import type { Asker, Lobby, LobbyCommand, LobbyEvent } from "../../lobby/types.ts";
import type { Commit } from "../storage/journal.ts";
import { newAudience, withAudience, type Audience } from "./audience.ts";
import {
  forgetDeparted,
  forgetPrepared,
  recall,
  remember,
  rememberRefusal,
  seatLeftBy,
  type Leave,
  type Memory,
} from "./memory.ts";
import { countCommand, type SeatCounts, type SeatLimit } from "./quota.ts";
import { isHarmlessTwice, isLasting, meansCurrent } from "./repeats.ts";
import {
  encodeChange,
  encodeSnapshot,
  generationField,
  stampOf,
  type StoredLobby,
} from "../storage/storage.ts";

/** One lobby in memory: the committed state plus what the commit in flight adds to it. */
export interface Actor {
  readonly code: string;
  lobby: Lobby | null;
  version: number;
  /** Of the last commit, that in flight included. */
  commitId: string;
  snapshotVersion: number;
  memory: Memory;
  counts: SeatCounts;
  audience: Audience;
  /** Of its shard, in which its events have got their numbers. */
  generation: number;
}

/** A command on its way into a lobby. */
export interface Delivery {
  command: LobbyCommand;
  id: string;
}

/** Outcome of folding waiting commands: one answer per command, and what has to be committed first. */
export interface Batch {
  replies: LobbyReply[];
  events: LobbyEvent[];
  commit: Commit | null;
}

export interface BatchRules {
  context: WireContext;
  /** null: no limit. */
  seatLimit: SeatLimit | null;
}

const activeTtlMs = 48 * 3_600_000;

/** `generation`: of the shard, for a lobby that begins. */
export function actorOf(code: string, stored: StoredLobby, now: number, generation = 0): Actor {
  const { lobby, version, commitId, snapshotVersion, memory } = stored;
  return {
    code,
    lobby,
    version,
    commitId,
    snapshotVersion,
    memory,
    counts: new Map(),
    audience: newAudience(lobby, now),
    generation: lobby ? stored.generation : generation,
  };
}

/**
 * Decides the commands one after another and folds their events; changes the actor in place.
 * If the commit of the batch fails the actor must be dropped: its memory is ahead of the store.
 */
export function runBatch(
  actor: Actor,
  commands: Delivery[],
  now: number,
  commitId: string,
  rules: BatchRules,
): Batch {
  const { context, seatLimit } = rules;
  const replies: LobbyReply[] = [];
  const events: LobbyEvent[] = [];
  const fields: [string, string][] = [];
  const payloads: string[] = [];

  for (const { command: given, id } of commands) {
    const command = withAudience(actor.audience, given, now);
    const seatId = seatLeft(actor, command, id) ?? seatOf(actor, command);
    // A repeat is a request as well, so it is counted before its answer is looked for.
    const wait = seatId === null ? null : countFor(actor, command, seatId, now, seatLimit);
    if (wait !== null) {
      const params = { retry_after: wait };
      replies.push({ ok: false, code: "rate_limit:exceeded", params });
      continue;
    }
    const known = seatId === null ? null : recall(actor.memory, seatId, id);
    if (known) {
      replies.push(known);
      continue;
    }
    const decision = decide(actor.lobby, command, now);
    const isOfCurrent = meansCurrent(command, id);
    if (!decision.ok) {
      const { rejection } = decision;
      replies.push({ ok: false, ...rejection });
      if (isOfCurrent && seatId !== null && isLasting(rejection.code, actor.lobby?.status))
        fields.push(rememberRefusal(actor.memory, seatId, id, rejection.code));
      continue;
    }
    const leave = leaveOf(actor.lobby, command, seatId);
    for (const event of decision.events) {
      actor.lobby = evolve(actor.lobby, event);
      const message = messageOf(actor.lobby, event, context);
      if (message) payloads.push(encodeMessage(actor.lobby, message, event.at, context));
      events.push(event);
      if (event.type === "prepare_abandoned") fields.push(...forgetPrepared(actor.memory));
    }
    const { lobby } = actor;
    const body = lobby ? answerBody(lobby, decision.answer, now, context) : null;
    replies.push({ ok: true, body });
    const rememberedBy = seatId ?? seatOf(actor, command);
    const isKept =
      isOfCurrent || (decision.events.length > 0 && !isHarmlessTwice(command, decision.answer));
    if (isKept && rememberedBy !== null)
      fields.push(remember(actor.memory, rememberedBy, id, body, leave));
  }

  const { lobby } = actor;
  const isChanged = events.length > 0 || fields.length > 0;
  const commit =
    isChanged && lobby ? sealBatch(actor, lobby, events, fields, payloads, commitId) : null;
  return { replies, events, commit };
}

/** Counts a command of a seat. Whoever is about to take one is counted by the limit of that route (GW-12). */
function countFor(
  actor: Actor,
  command: LobbyCommand,
  seatId: number,
  now: number,
  limit: SeatLimit | null,
): number | null {
  if (!limit || command.type === "create" || command.type === "join") return null;
  return countCommand(actor.counts, seatId, now, limit);
}

function sealBatch(
  actor: Actor,
  lobby: Lobby,
  events: LobbyEvent[],
  remembered: [string, string][],
  payloads: string[],
  id: string,
): Commit {
  const expected = stampOf(actor.version, actor.commitId);
  actor.version += 1;
  actor.commitId = id;
  const change = encodeChange(lobby, events, actor.version, actor.snapshotVersion);
  const isSnapshot = change.snapshotVersion !== actor.snapshotVersion;
  actor.snapshotVersion = change.snapshotVersion;
  const { removed } = change;
  const forgotten = events.some((event) => event.type === "removed") ? forget(actor, lobby) : [];
  const kept = forgotten.length === 0 ? remembered : withoutNames(remembered, forgotten);
  const fields = change.fields.concat(kept);
  removed.push(...forgotten);
  const hasEnded = events.some((event) => event.type === "finished");
  // What is not there yet takes no end: the log begins with the first message, later than the lobby.
  const isBeginning = expected === "" || lobby.seq === payloads.length;
  if (expected === "" && actor.generation > 0) fields.push(generationOf(actor));
  if (hasEnded) fields.push(["r", JSON.stringify(resultSheet(lobby))]);
  return {
    code: actor.code,
    expected,
    version: actor.version,
    id,
    seq: lobby.seq,
    fields,
    removedFields: removed,
    payloads,
    ttlMs: ttlOf(lobby, isBeginning || isSnapshot, hasEnded),
    due: nextDeadline(lobby),
  };
}

function generationOf({ generation }: Actor): [string, string] {
  return [generationField, String(generation)];
}

function withoutNames(fields: [string, string][], names: string[]): [string, string][] {
  return fields.filter(([name]) => !names.includes(name));
}

/**
 * The change that goes on after a loss of events up to number `lostSeq`: the number after it stays
 * unused, so that whoever reads the log across the loss finds a hole and takes a snapshot (HUB-06).
 */
export function leaveGap(
  actor: Actor,
  lobby: Lobby,
  lostSeq: number,
  now: number,
  id: string,
  context: WireContext,
): Commit {
  const expected = stampOf(actor.version, actor.commitId);
  const seq = lostSeq + 2;
  const restored = { ...lobby, seq };
  const change = encodeSnapshot(restored, actor.version + 1, actor.snapshotVersion);
  actor.lobby = restored;
  actor.version = actor.snapshotVersion = change.snapshotVersion;
  actor.commitId = id;
  return {
    code: actor.code,
    expected,
    version: actor.version,
    id,
    seq,
    fields: actor.generation > 0 ? [...change.fields, generationOf(actor)] : change.fields,
    removedFields: change.removed,
    payloads: [encodeMessage(restored, { type: "lobby.gap", data: {} }, now, context)],
    ttlMs: null,
    due: nextDeadline(restored),
  };
}

function forget(actor: Actor, lobby: Lobby): string[] {
  const seated = new Set([...lobby.seats, ...lobby.formerSeats].map((seat) => seat.id));
  for (const seatId of actor.counts.keys()) if (!seated.has(seatId)) actor.counts.delete(seatId);
  return forgetDeparted(actor.memory, seated);
}

function ttlOf(lobby: Lobby, isRenewal: boolean, hasEnded: boolean): number | null {
  if (hasEnded) return finishedKeepMs;
  return isRenewal && lobby.status !== "finished" ? activeTtlMs : null;
}

/** The seat that has left by this very command. A header token names its seat itself, also after it left (LOB-01). */
function seatLeft({ memory }: Actor, command: LobbyCommand, id: string): number | null {
  if (command.type !== "leave" || command.by.seatId !== null) return null;
  return seatLeftBy(memory, command.by, id);
}

/** Of a seat that is about to be left. */
function leaveOf(lobby: Lobby | null, { type }: LobbyCommand, seatId: number | null): Leave | null {
  if (type !== "leave") return null;
  return { account: lobby?.seats.find((seat) => seat.id === seatId)?.accountId ?? null };
}

/** The seat whose memory a command belongs to: by lobby token, else the player's bound seat, else the new one. */
function seatOf({ lobby, memory }: Actor, command: LobbyCommand): number | null {
  if (command.type === "create") return command.host.id;
  if (command.type === "join") return command.seat.id;
  if (!("by" in command) || !lobby) return null;
  const { seatId, playerId, cookieSeatId } = command.by;
  // The token of a seat that left still finds the answer to its own `leave`.
  if (seatId !== null && memory.has(seatId)) return seatId;
  return boundSeat(lobby, { seatId, playerId, cookieSeatId: cookieSeatId ?? null });
}

function boundSeat(lobby: Lobby, by: Asker): number | null {
  const seats = [...lobby.seats, ...lobby.formerSeats];
  const known = (seatId: number | null | undefined) => seats.find((seat) => seat.id === seatId)?.id;
  const bound =
    by.playerId === null ? undefined : seats.find((seat) => seat.accountId === by.playerId)?.id;
  return known(by.seatId) ?? bound ?? known(by.cookieSeatId) ?? null;
}

function encodeMessage(
  lobby: Lobby,
  message: { type: string; data: Record<string, unknown> },
  at: number,
  context: WireContext,
): string {
  return JSON.stringify({
    type: message.type,
    topic: `${context.topicBase}/lobby/${lobby.code}`,
    seq: lobby.seq,
    at_ms: at,
    data: message.data,
  });
}
