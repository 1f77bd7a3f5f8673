/** A message of a lobby as it is kept: encoded once, written to every subscriber. */
export interface Frame {
  seq: number;
  bytes: Buffer;
  /** When the message was made, by the clock of its process. */
  atMs: number;
  /** Seat a `lobby.player_removed` is about. */
  removedSeat: number | null;
  isEnd: boolean;
}

/** What one write carries: frames in a row. */
export interface Chunk {
  bytes: Buffer;
  /** Number of the last frame. */
  lastSeq: number;
  count: number;
  /** A chunk ends behind a removal, so that nothing follows it to the removed seat (S14). */
  removedSeat: number | null;
  isEnd: boolean;
}

export const heartbeat = Buffer.from(":\n\n");

/** Text with line breaks becomes several data lines, so that no text can end a frame (S22). */
export function encodeFrame(event: string, data: string, id: number | null): Buffer {
  const lines = /[\r\n]/.test(data) ? data.split(/\r\n|\r|\n/).join("\ndata: ") : data;
  const head = id === null ? "" : `id: ${id}\n`;
  return Buffer.from(`${head}event: ${event}\ndata: ${lines}\n\n`);
}

export function encodeRetry(ms: number): Buffer {
  return Buffer.from(`retry: ${ms}\n\n`);
}

const typePattern = /^\{"type":"([a-z_.]{1,64})"/;
const timePattern = /"at_ms":(\d{1,15})/;
const seatPattern = /"player_id":(\d{1,15})/;
/** `type`, `topic`, `seq`, `at_ms` and the start of `data` lie within the first characters. */
const headLength = 1024;

/** Encodes the finished JSON of a lobby's message; what the hub has to know is read from its beginning. */
export function frameOf(seq: number, payload: string): Frame {
  const head = payload.slice(0, headLength);
  const type = typePattern.exec(head)?.[1] ?? "message";
  const seat = type === "lobby.player_removed" ? seatPattern.exec(head)?.[1] : undefined;
  return {
    seq,
    bytes: encodeFrame(type, payload, seq),
    atMs: Number(timePattern.exec(head)?.[1] ?? 0),
    removedSeat: seat === undefined ? null : Number(seat),
    isEnd: type === "lobby.ended",
  };
}

/** Joins the frames from `start` on into one chunk of at most `maxBytes`, or one larger frame. */
export function joinFrames(
  frames: readonly Frame[],
  start: number,
  maxBytes: number,
): Chunk | null {
  let bytes = 0;
  const parts: Buffer[] = [];
  let last: Frame | undefined;
  for (let i = start; i < frames.length; i++) {
    const frame = frames[i];
    if (!frame || (last && bytes + frame.bytes.length > maxBytes)) break;
    parts.push(frame.bytes);
    bytes += frame.bytes.length;
    last = frame;
    if (frame.removedSeat !== null || frame.isEnd) break;
  }
  if (!last) return null;
  const { seq: lastSeq, removedSeat, isEnd } = last;
  const joined = parts.length === 1 ? last.bytes : Buffer.concat(parts, bytes);
  return { bytes: joined, lastSeq, count: parts.length, removedSeat, isEnd };
}
