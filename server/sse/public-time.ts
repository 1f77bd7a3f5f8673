import type { Frame } from "./frames.ts";
import { isContiguous } from "./repair.ts";

/** The messages from number `from` on, as many as are at hand; none: they are gone. */
type Read = (from: number) => Promise<readonly Frame[]> | readonly Frame[];

/**
 * Whether a lobby was public during all messages that are to be replayed to a spectator (HUB-08). Not every
 * message carries the lobby; of those that do not, a later one that makes it public tells that they are private.
 */
export class PublicTime {
  // What was found last is remembered: all spectators of a lobby that come back together ask for much the same.
  private after = Infinity;
  private until = -1;

  /** For the messages behind `after`; at number `until` the lobby itself has said that it is public. */
  async holds(after: number, until: number, read: Read): Promise<boolean> {
    if (after > until) return false;
    const isKnown = after >= this.after && after <= this.until;
    const from = isKnown ? this.after : after;
    let isPublic = isKnown;
    let seq = isKnown ? this.until : after;
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
    this.after = from;
    this.until = seq;
    return true;
  }
}
