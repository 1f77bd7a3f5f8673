/** A message of a lobby as it is kept: encoded once, written to every subscriber. */
export interface Frame {
  seq: number;
  bytes: Buffer;
  /** When the message was made, by the clock of its process. */
  atMs: number;
  /** Seat a `lobby.player_removed` is about. */
  removedSeat: number | null;
  isEnd: boolean;
  /** Not shown to spectators: a pick, or the change that makes the lobby private (HUB-08). */
  isHidden: boolean;
  isPrivate: boolean;
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
  /** Behind it nothing more is for spectators. */
  endsSpectators: boolean;
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

/** Moves a client's last id and shows nothing, so that what was left out is no gap when it returns. */
function encodeId(seq: number): Buffer {
  return Buffer.from(`id: ${seq}\n\n`);
}

const privateText = '"visibility":"private"';
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
  const isPrivate = type === "lobby.settings" && payload.includes(privateText);
  return {
    seq,
    bytes: encodeFrame(type, payload, seq),
    atMs: Number(timePattern.exec(head)?.[1] ?? 0),
    removedSeat: seat === undefined ? null : Number(seat),
    isEnd: type === "lobby.ended",
    isHidden: isPrivate || type === "lobby.pick",
    isPrivate,
  };
}

/**
 * Joins the frames from `start` on into one chunk of at most `maxBytes`, or one larger frame. What is
 * hidden from spectators leaves them its number alone.
 */
export function joinFrames(
  frames: readonly Frame[],
  start: number,
  maxBytes: number,
  isSpectator = false,
): Chunk | null {
  let bytes = 0;
  let end = start;
  const parts: Buffer[] = [];
  let last: Frame | undefined;
  for (; end < frames.length; end++) {
    const frame = frames[end];
    const part = isSpectator && frame?.isHidden ? null : frame?.bytes;
    if (!frame || (last && bytes + (part?.length ?? 0) > maxBytes)) break;
    if (part) parts.push(part);
    bytes += part?.length ?? 0;
    last = frame;
    if (endsChunk(frame, isSpectator)) {
      end += 1;
      break;
    }
  }
  if (!last) return null;
  if (isSpectator && last.isHidden) parts.push(encodeId(last.seq));
  const { seq: lastSeq, removedSeat, isEnd } = last;
  const [only] = parts;
  const joined = only && parts.length === 1 ? only : Buffer.concat(parts);
  const endsSpectators = isSpectator && last.isPrivate;
  return { bytes: joined, lastSeq, count: end - start, removedSeat, isEnd, endsSpectators };
}

/** Somebody's stream ends behind such a frame. */
function endsChunk(frame: Frame, isSpectator: boolean): boolean {
  return frame.removedSeat !== null || frame.isEnd || (isSpectator && frame.isPrivate);
}
