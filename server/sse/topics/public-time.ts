import type { Frame } from "../stream/frames.ts";
import { isContiguous } from "./repair.ts";

/** Reads available messages from number `from` on; an empty list means that they were trimmed. */
type Read = (from: number) => Promise<readonly Frame[]> | readonly Frame[];

/**
 * Whether a room was public during all messages behind `after`, which are to be replayed to a spectator (HUB-08); at
 * number `until` it has said itself that it is public. Not every message carries the room; of those that do not, a
 * later one that makes it public tells that they are private.
 */
export async function wasPublic(after: number, until: number, read: Read): Promise<boolean> {
  if (after > until) return false;
  let isPublic = false;
  let seq = after;
  while (seq < until) {
    const frames = await read(seq + 1);
    if (frames.length === 0 || !isContiguous(frames, seq + 1)) return false;
    for (const frame of frames) {
      if (frame.seq > until) break;
      if (frame.isPrivate || (frame.opens && !isPublic)) return false;
      isPublic ||= frame.isPublic;
      seq = frame.seq;
    }
  }
  return true;
}
