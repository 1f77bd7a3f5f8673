import type { LobbyReply } from "../contract.ts";

/** Answers already given to one seat, oldest first. */
interface Remembered {
  n: number;
  id: string;
  reply: LobbyReply;
}

/** Seat -> its last answers. Per seat, because a window shared by a lobby forgets under load (LOB-28). */
export type Memory = Map<number, Remembered[]>;

/** Answers remembered per seat. */
const windowSize = 8;
/** Seats that left and are still remembered, per lobby. */
const maxDeparted = 16;

const fieldOf = (seatId: number, n: number) => `k:${seatId}:${n % windowSize}`;

export function recall(memory: Memory, seatId: number, id: string): LobbyReply | null {
  const entries = memory.get(seatId);
  if (entries !== undefined) for (const entry of entries) if (entry.id === id) return entry.reply;
  return null;
}

/** Remembers an answer and returns the field that stores it. */
export function remember(
  memory: Memory,
  seatId: number,
  id: string,
  reply: LobbyReply,
): [string, string] {
  const entries = memory.get(seatId) ?? [];
  const n = (entries.at(-1)?.n ?? -1) + 1;
  const entry: Remembered = { n, id, reply };
  entries.push(entry);
  if (entries.length > windowSize) entries.shift();
  // Set anew, so that the order of the map is that of the last command.
  memory.delete(seatId);
  memory.set(seatId, entries);
  return [fieldOf(seatId, n), encode(entry)];
}

function encode({ n, id, reply }: Remembered): string {
  // Most commands have an answer without a body.
  const isBare = reply.ok && reply.body === null;
  const text = isBare ? '{"ok":true,"body":null}' : JSON.stringify(reply);
  return `{"n":${n},"id":${JSON.stringify(id)},"reply":${text}}`;
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

/** Rebuilds the windows; a hash has no order, so each entry carries its number. */
export function rememberedFrom(fields: Record<string, string>): Memory {
  const memory: Memory = new Map();
  for (const [name, value] of Object.entries(fields)) {
    if (!name.startsWith("k:")) continue;
    const seatId = Number(name.split(":")[1]);
    const entries = memory.get(seatId) ?? [];
    entries.push(JSON.parse(value) as Remembered);
    memory.set(seatId, entries);
  }
  for (const entries of memory.values()) entries.sort((a, b) => a.n - b.n);
  return memory;
}
