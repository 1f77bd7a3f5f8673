import type { RequestContext } from "./request-context.ts";

/** A response body; a list is one body in parts, which are never concatenated. */
export type Body = string | Uint8Array | readonly Uint8Array[];

/** Bytes of one write; a body up to this size is sent in one write. */
export const pieceBytes = 256 * 1024;

/** True for a body that is sent in one write. */
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
 * Sends a long body with backpressure, and yields to the event loop after each piece. In one write uWebSockets would
 * copy and keep all bytes that the kernel does not accept, for as long as the client stalls. A stalled client now
 * costs the kernel's buffer only, until uWebSockets closes the connection after 8 to 12 seconds. The request stays in
 * flight until the last byte.
 */
export function sendInPieces(ctx: RequestContext, body: Body): void {
  const { raw } = ctx;
  const parts = isWhole(body) ? [typeof body === "string" ? Buffer.from(body) : body] : body;
  const total = lengthOf(parts);
  let isTaken = true;
  const offer = () => {
    const [taken, isDone] = raw.tryEnd(pieceAt(parts, raw.getWriteOffset()), total);
    isTaken = taken;
    if (isDone) ctx.endSending();
    else if (taken) setImmediate(goOn);
  };
  const goOn = () => {
    if (ctx.isSending) raw.cork(offer);
    return isTaken;
  };
  ctx.isSending = true;
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
