import type { Connection } from "./connection.ts";

/** A published message of a room, without its content. */
export interface RoomEvent {
  seq: number;
  type: string;
  atMs: number;
}

/** Messages that operators see of a room. */
export const maxRoomEvents = 50;

/** The newest messages of a stream, newest first; those that cannot be read are left out. */
export async function readRoomEvents(
  redis: Pick<Connection, "xrevrange">,
  key: string,
): Promise<RoomEvent[]> {
  const entries = await redis.xrevrange(key, "+", "-", "COUNT", maxRoomEvents);
  return entries.flatMap(([id, [, text = ""]]) => eventIn(id, text) ?? []);
}

/** An entry is the message after a line with its number. */
function eventIn(id: string, text: string): RoomEvent | null {
  try {
    const { type, at_ms } = JSON.parse(text.slice(text.indexOf("\n") + 1)) as {
      type?: unknown;
      at_ms?: unknown;
    };
    if (typeof type !== "string" || typeof at_ms !== "number") return null;
    return { seq: Number.parseInt(id, 10), type, atMs: at_ms };
  } catch {
    return null;
  }
}
