import { AppError, type ErrorCode } from "../../platform/errors.ts";
import { maxBodyBytes } from "../pipeline/body.ts";
import type { Exchange } from "./exchange.ts";

/**
 * Collects the body up to the limit of the route, then calls `done` once (HTTP-04). One that is not
 * kept is read to its end and dropped, so that its sender hears the answer.
 */
export function readRequestBody(x: Exchange, done: () => void, isKept = true): void {
  const limit = x.entry?.maxBodyBytes ?? maxBodyBytes;
  if (Number(x.headers["content-length"] ?? 0) > limit) return refuseSize(x, done);
  const chunks: Uint8Array[] = [];
  x.raw.onData((chunk, isLast) => {
    if (x.isClosed || isOver(x)) return;
    x.numBodyBytes += chunk.byteLength;
    if (x.numBodyBytes > limit) return refuseSize(x, done);
    // The chunk is emptied when this function returns.
    if (isKept && chunk.byteLength > 0) chunks.push(Buffer.copyBytesFrom(new Uint8Array(chunk)));
    if (!isLast) return;
    x.body = chunks.length === 1 ? (chunks[0] ?? null) : Buffer.concat(chunks);
    done();
  });
}

/** What is refused in the middle of its body has, or gets, its answer; the rest of the body is dropped. */
const isOver = ({ refusal }: Exchange) => refusal !== null && endings.has(refusal.code);
const endings: ReadonlySet<ErrorCode> = new Set([
  "request:too_large",
  "request:too_slow",
  "rate_limit:exceeded",
]);

function refuseSize(x: Exchange, done: () => void): void {
  // An unknown route or method is said first (HTTP-17).
  x.refusal ??= new AppError("request:too_large");
  x.mustClose = true;
  done();
}
