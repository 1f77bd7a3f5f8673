import type { DeliveryRules } from "../../platform/room-source.ts";

/** An encoded message of a room: encoded once, written to every subscriber. */
export interface Frame {
  seq: number;
  bytes: Buffer;
  /** Length of the line with the id, at the beginning of `bytes`. */
  idLength: number;
  /** Creation time of the message, by the clock of its process. */
  atMs: number;
  /** Seat that the message removes. */
  removedSeat: number | null;
  isEnd: boolean;
  /** Hidden from spectators, for example an event of a private room (HUB-08). */
  isHidden: boolean;
  /** From the room in the message; both false without one. */
  isPublic: boolean;
  isPrivate: boolean;
  /** True if the message makes the room public. */
  opens: boolean;
}

/** The content of one write: consecutive frames. */
export interface Chunk {
  bytes: Buffer;
  /** Visible frames. */
  frames: readonly Frame[];
  /** Number of the last frame, shown or hidden. */
  lastSeq: number;
  /** The last frame is hidden: only its number is sent. */
  endsHidden: boolean;
  /** A chunk ends behind a removal, so that nothing follows it to the removed seat (S14). */
  removedSeat: number | null;
  isEnd: boolean;
  /** True if no later message is for spectators. */
  endsSpectators: boolean;
}

export const heartbeat = Buffer.from(":\n\n");

/** Line breaks to Python and Java, not to an event stream; JSON has no others that it does not escape itself. */
const otherBreak = /[\u0085\u2028\u2029]/g;

const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

/**
 * `data` is JSON. Text with line breaks becomes several data lines, so that no text can end a frame (S22).
 */
export function encodeFrame(event: string, data: string, id: number | string | null): Buffer {
  const lines = data.replace(otherBreak, escapeUnit).replace(/\r\n|\r|\n/g, "\ndata: ");
  const head = id === null ? "" : `id: ${id}\n`;
  return Buffer.from(`${head}event: ${event}\ndata: ${lines}\n\n`);
}

export function encodeRetry(ms: number): Buffer {
  return Buffer.from(`retry: ${ms}\n\n`);
}

/** Advances the client's last id without an event, so that hidden messages are no gap when it reconnects. */
function encodeId(id: number | string): Buffer {
  return Buffer.from(`id: ${id}\n\n`);
}

/** Anything else could end the line it is written to (S22). */
const eventName = /^[a-z_.]{1,64}$/;

/** The fields of a message that the hub reads. */
interface Message {
  type?: string;
  at_ms?: number;
  data?: object;
}

/** Encodes the finished JSON of a message; `delivery` says who receives it. */
export function frameOf(seq: number, payload: string, delivery: DeliveryRules): Frame {
  const { type = "message", at_ms: atMs = 0, data = {} } = readMessage(payload);
  const {
    removedSeat = null,
    isHidden = false,
    visibility,
    opens = false,
  } = delivery.message(type, data);
  const isPrivate = visibility === "private";
  return {
    seq,
    bytes: encodeFrame(eventName.test(type) ? type : "message", payload, seq),
    idLength: `id: ${seq}\n`.length,
    atMs,
    removedSeat,
    isEnd: type.endsWith(".ended"),
    isHidden: isPrivate || isHidden,
    isPublic: visibility === "public",
    isPrivate,
    opens,
  };
}

function readMessage(payload: string): Message {
  try {
    return JSON.parse(payload) as Message;
  } catch {
    // A damaged message is delivered unchanged under its number.
    return {};
  }
}

/**
 * Joins the frames from `start` on into one chunk of at most `maxBytes`, or one larger frame. For
 * spectators a hidden frame contributes only its number.
 */
export function joinFrames(
  frames: readonly Frame[],
  start: number,
  maxBytes: number,
  isSpectator = false,
): Chunk | null {
  let bytes = 0;
  const shown: Frame[] = [];
  let last: Frame | undefined;
  for (let i = start; i < frames.length; i++) {
    const frame = frames[i];
    const length = !frame || (isSpectator && frame.isHidden) ? 0 : frame.bytes.length;
    if (!frame || (last && bytes + length > maxBytes)) break;
    if (length > 0) shown.push(frame);
    bytes += length;
    last = frame;
    if (endsChunk(frame, isSpectator)) break;
  }
  if (!last) return null;
  const endsHidden = isSpectator && last.isHidden;
  return {
    bytes: joinBytes(shown, endsHidden ? encodeId(last.seq) : null),
    frames: shown,
    lastSeq: last.seq,
    endsHidden,
    removedSeat: last.removedSeat,
    isEnd: last.isEnd,
    endsSpectators: isSpectator && last.isPrivate,
  };
}

/** True when `frames` are numbered without a hole and begin at `first`. */
export function isContiguous(frames: readonly Frame[], first: number): boolean {
  return frames.every((frame, i) => frame.seq === first + i);
}

/** All frames as chunks of at most `maxBytes`, numbered without a hole. */
export function* chunksOf(
  frames: readonly Frame[],
  maxBytes: number,
  isSpectator: boolean,
): Generator<Chunk> {
  const first = frames[0]?.seq ?? 0;
  for (let start = 0; start < frames.length;) {
    const chunk = joinFrames(frames, start, maxBytes, isSpectator);
    if (!chunk) return;
    yield chunk;
    start = chunk.lastSeq - first + 1;
  }
}

/** Replaces the ids of a chunk, for a stream of several topics. */
export function relabel(chunk: Chunk, idOf: (seq: number) => string): Buffer {
  const parts = chunk.frames.flatMap(({ seq, bytes, idLength }) => [
    Buffer.from(`id: ${idOf(seq)}\n`),
    bytes.subarray(idLength),
  ]);
  if (chunk.endsHidden) parts.push(encodeId(idOf(chunk.lastSeq)));
  return Buffer.concat(parts);
}

/** True for a frame after which some streams end. */
function endsChunk(frame: Frame, isSpectator: boolean): boolean {
  return frame.removedSeat !== null || frame.isEnd || (isSpectator && frame.isPrivate);
}

function joinBytes(frames: readonly Frame[], tail: Buffer | null): Buffer {
  const [first] = frames;
  if (first && frames.length === 1 && !tail) return first.bytes;
  const parts = frames.map((frame) => frame.bytes);
  return Buffer.concat(tail ? [...parts, tail] : parts);
}
