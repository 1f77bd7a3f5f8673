import type { Exchange } from "./exchange.ts";

/** A body as it is sent; a list is one body in parts, which are never put together. */
export type Body = string | Uint8Array | readonly Uint8Array[];

/** Bytes offered to the socket at a time. A body that is no longer goes out at once. */
export const pieceBytes = 256 * 1024;

/** Whether a body goes out at once. */
export const isShort = (body: Body): body is string | Uint8Array =>
  isWhole(body) && body.length <= pieceBytes;

/** Bytes of a body. */
export function byteLength(body: Body | null): number {
  if (body === null) return 0;
  return isWhole(body) ? Buffer.byteLength(body) : lengthOf(body);
}

const isWhole = (body: Body): body is string | Uint8Array => !Array.isArray(body);

const lengthOf = (parts: readonly Uint8Array[]) =>
  parts.reduce((sum, { length }) => sum + length, 0);

/**
 * Sends a long body as fast as its reader takes it, with a turn for others after each piece. Given whole, all
 * that the kernel does not take would be copied and kept, for as long as the reader likes; so a reader who
 * stands still costs what the kernel took, until uWebSockets cuts the connection after ten seconds. The request
 * stays in flight to the last byte.
 */
export function sendInPieces(x: Exchange, body: Body): void {
  const { raw } = x;
  const parts = isWhole(body) ? [typeof body === "string" ? Buffer.from(body) : body] : body;
  const total = lengthOf(parts);
  let isTaken = true;
  const offer = () => {
    const [taken, isDone] = raw.tryEnd(pieceAt(parts, raw.getWriteOffset()), total);
    isTaken = taken;
    if (isDone) x.endSending();
    else if (taken) setImmediate(goOn);
  };
  const goOn = () => {
    if (x.isSending) raw.cork(offer);
    return isTaken;
  };
  x.isSending = true;
  raw.onWritable(goOn);
  offer();
}

function pieceAt(parts: readonly Uint8Array[], offset: number): Uint8Array {
  let start = offset;
  for (const part of parts) {
    if (start < part.length) return part.subarray(start, start + pieceBytes);
    start -= part.length;
  }
  return new Uint8Array();
}
