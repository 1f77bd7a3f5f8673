import { isContiguous, type Frame } from "../stream/frames.ts";

/** Reads the available messages from number `from` on; an empty list means that they were trimmed. */
type Read = (from: number) => Promise<readonly Frame[]> | readonly Frame[];

/**
 * Whether a room was public during all messages after `after`, which a spectator would receive in a replay
 * (HUB-08). At number `until` the room has reported itself public. Not every message contains the room: a
 * message without it was private if a later one makes the room public.
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
