import type { ErrorCode } from "../../../server/platform/errors.ts";
import type { LobbyReply } from "../../contract.ts";
import type { Asker } from "../../lobby/types.ts";
import { keyedId } from "./repeats.ts";

/** An answer already given to one seat. */
interface Remembered {
  n: number;
  id: string;
  body: string | null;
  /** It was a refusal, with this code and nothing else. */
  refused?: ErrorCode;
  /** Of a `leave`: the account the seat was bound to, which the lobby itself forgets with the seat. */
  account?: number;
}

/** Seat -> its last answers, each where its number modulo the window says. Per seat, because a window shared by a lobby forgets under load (LOB-28). */
export type Memory = Map<number, Remembered[]>;

/** Answers remembered per seat. */
const windowSize = 8;
/** Seats that left and are still remembered, per lobby. */
const maxDeparted = 16;

const fieldOf = (seatId: number, n: number) => `k:${seatId}:${n % windowSize}`;

export function recall(memory: Memory, seatId: number, id: string): LobbyReply | null {
  const entries = memory.get(seatId);
  if (entries !== undefined)
    for (const entry of entries) if (entry.id === id) return replyOf(entry);
  return null;
}

function replyOf({ body, refused }: Remembered): LobbyReply {
  return refused === undefined ? { ok: true, body } : { ok: false, code: refused };
}

/**
 * The seat that left by the command of this id, sent by its account or the holder of its cookie. Asked before
 * the present seat: whoever has joined again since must not lose the new seat to a late repeat (S33).
 */
export function seatLeftBy(memory: Memory, by: Asker, id: string): number | null {
  for (const [seatId, entries] of memory) {
    const entry = entries.find((one) => one.id === id);
    if (entry === undefined) continue;
    const isOfPlayer = by.playerId !== null && entry.account === by.playerId;
    if (isOfPlayer || seatId === by.cookieSeatId) return seatId;
  }
  return null;
}

/** That an answer is to a `leave`, and the account the seat was bound to. */
export interface Leave {
  account: number | null;
}

/** Remembers an answer and returns the field that stores it. */
export function remember(
  memory: Memory,
  seatId: number,
  id: string,
  body: string | null,
  leave: Leave | null = null,
): [string, string] {
  const n = nextOf(memory, seatId);
  const account = leave?.account ?? null;
  const entry: Remembered = account === null ? { n, id, body } : { n, id, body, account };
  return keep(memory, seatId, entry, leave !== null);
}

/** Remembers a refusal that has nothing but its code, and returns the field that stores it. */
export function rememberRefusal(
  memory: Memory,
  seatId: number,
  id: string,
  refused: ErrorCode,
): [string, string] {
  return keep(memory, seatId, { n: nextOf(memory, seatId), id, body: null, refused }, false);
}

function nextOf(memory: Memory, seatId: number): number {
  let next = 0;
  for (const { n } of memory.get(seatId) ?? []) next = Math.max(next, n + 1);
  return next;
}

function keep(
  memory: Memory,
  seatId: number,
  entry: Remembered,
  hasLeft: boolean,
): [string, string] {
  const entries = memory.get(seatId) ?? [];
  // Who leaves is set anew, so that the order of the map is that of the leaving.
  if (hasLeft) memory.delete(seatId);
  memory.set(seatId, withEntry(entries, entry));
  return [fieldOf(seatId, entry.n), encode(entry)];
}

/** A full window has its newest entry in the place of its oldest. */
function withEntry(entries: Remembered[], entry: Remembered): Remembered[] {
  return entries.length < windowSize
    ? entries.concat(entry)
    : entries.with(entry.n % windowSize, entry);
}

function encode({ n, id, body, account, refused }: Remembered): string {
  const reply = refused === undefined ? { ok: true, body } : { ok: false, code: refused };
  return JSON.stringify({ n, id, ...(account === undefined ? {} : { account }), reply });
}

/**
 * Forgets seats that left, but for the latest: the repeat of a `leave` still finds its answer, and
 * players who come and go do not fill the store. Returns the fields to remove.
 */
export function forgetDeparted(memory: Memory, seated: ReadonlySet<number>): string[] {
  const departed = [...memory.keys()].filter((seatId) => !seated.has(seatId));
  const removed: string[] = [];
  for (const seatId of departed.slice(0, Math.max(0, departed.length - maxDeparted))) {
    for (const { n } of memory.get(seatId) ?? []) removed.push(fieldOf(seatId, n));
    memory.delete(seatId);
  }
  return removed;
}

/**
 * Forgets the first halves of starts that were given up: repeated, they have to lock and to plan anew (LOB-24).
 * Returns the fields that store it. The entries stay without an id, which no command has, because their numbers
 * tell the places of those after them.
 */
export function forgetPrepared(memory: Memory): [string, string][] {
  const fields: [string, string][] = [];
  for (const [seatId, entries] of memory)
    for (const entry of entries) {
      if (!entry.id.startsWith(keyedId("prepare", ""))) continue;
      entry.id = "";
      entry.body = null;
      fields.push([fieldOf(seatId, entry.n), encode(entry)]);
    }
  return fields;
}

/** As `encode` writes it. */
interface Stored {
  n: number;
  id: string;
  account?: number;
  reply: { ok: true; body: string | null } | { ok: false; code: ErrorCode };
}

/** Rebuilds the windows; a hash has no order, so each entry carries its number. */
export function rememberedFrom(fields: Record<string, string>): Memory {
  const memory: Memory = new Map();
  for (const [name, value] of Object.entries(fields)) {
    if (!name.startsWith("k:")) continue;
    const seatId = Number(name.split(":")[1]);
    const entries = memory.get(seatId) ?? [];
    const { n, id, account, reply } = JSON.parse(value) as Stored;
    const said = reply.ok ? { body: reply.body } : { body: null, refused: reply.code };
    entries.push({ n, id, ...said, ...(account === undefined ? {} : { account }) });
    memory.set(seatId, entries);
  }
  for (const entries of memory.values())
    entries.sort((a, b) => (a.n % windowSize) - (b.n % windowSize));
  return memory;
}
