import type { LobbyReply } from "../contract.ts";

/** An answer already given to one seat. Only commands that did something are remembered, so it was no refusal. */
interface Remembered {
  n: number;
  id: string;
  body: string | null;
}

/** Seat -> its last answers, oldest first. Per seat, because a window shared by a lobby forgets under load (LOB-28). */
export type Memory = Map<number, Remembered[]>;

/** Answers remembered per seat. */
const windowSize = 8;
/** Seats that left and are still remembered, per lobby. */
const maxDeparted = 16;

const fieldOf = (seatId: number, n: number) => `k:${seatId}:${n % windowSize}`;

export function recall(memory: Memory, seatId: number, id: string): LobbyReply | null {
  const entries = memory.get(seatId);
  if (entries !== undefined)
    for (const entry of entries) if (entry.id === id) return { ok: true, body: entry.body };
  return null;
}

/** Remembers an answer and returns the field that stores it. */
export function remember(
  memory: Memory,
  seatId: number,
  id: string,
  body: string | null,
): [string, string] {
  const entries = memory.get(seatId) ?? [];
  const n = (entries.at(-1)?.n ?? -1) + 1;
  const entry: Remembered = { n, id, body };
  // Set anew, so that the order of the map is that of the last command.
  memory.delete(seatId);
  memory.set(seatId, withEntry(entries, entry));
  return [fieldOf(seatId, n), encode(entry)];
}

/** A list of just the length needed: one that grows keeps room for many, which idle lobbies would pay for. */
function withEntry(entries: readonly Remembered[], entry: Remembered): Remembered[] {
  if (entries.length === 0) return [entry];
  return entries.length < windowSize ? [...entries, entry] : [...entries.slice(1), entry];
}

function encode({ n, id, body }: Remembered): string {
  // Most commands have an answer without a body.
  const text = body === null ? "null" : JSON.stringify(body);
  return `{"n":${n},"id":${JSON.stringify(id)},"reply":{"ok":true,"body":${text}}}`;
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

/** As `encode` writes it. */
interface Stored {
  n: number;
  id: string;
  reply: { body: string | null };
}

/** Rebuilds the windows; a hash has no order, so each entry carries its number. */
export function rememberedFrom(fields: Record<string, string>): Memory {
  const memory: Memory = new Map();
  for (const [name, value] of Object.entries(fields)) {
    if (!name.startsWith("k:")) continue;
    const seatId = Number(name.split(":")[1]);
    const entries = memory.get(seatId) ?? [];
    const { n, id, reply } = JSON.parse(value) as Stored;
    entries.push({ n, id, body: reply.body });
    memory.set(seatId, entries);
  }
  for (const entries of memory.values()) entries.sort((a, b) => a.n - b.n);
  return memory;
}
