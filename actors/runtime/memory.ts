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

export function recall(memory: Memory, seatId: number, id: string): LobbyReply | null {
  return memory.get(seatId)?.find((entry) => entry.id === id)?.reply ?? null;
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
  memory.set(seatId, entries);
  return [`k:${seatId}:${n % windowSize}`, JSON.stringify(entry)];
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
