import { isWhole, lengthOf, pieceBytes, type Body } from "../replies/output.ts";
import type { HttpResponse } from "./uws.ts";

/** A request whose response is sent. */
interface Sending {
  readonly raw: HttpResponse;
  isSending: boolean;
  endSending(): void;
}

/** True for a body that is sent in one write. */
export const isShort = (body: Body): body is string | Uint8Array =>
  isWhole(body) && body.length <= pieceBytes;

/**
 * Sends a long body with backpressure, and yields to the event loop after each piece. In one write uWebSockets would
 * copy and keep all bytes that the kernel does not accept, for as long as the client stalls. A stalled client now
 * costs the kernel's buffer only, until uWebSockets closes the connection after 8 to 12 seconds. The request stays in
 * flight until the last byte.
 */
export function sendInPieces(ctx: Sending, body: Body): void {
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
