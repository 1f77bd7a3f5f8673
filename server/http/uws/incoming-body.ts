import { AppError, type ErrorCode } from "../../platform/errors.ts";
import { maxBodyBytes } from "../pipeline/body.ts";
import type { RequestContext } from "../pipeline/request-context.ts";
import type { UwsContext } from "./uws-context.ts";

/**
 * Reads the body up to the limit of the route, then calls `done` once (HTTP-04). With `isKept` false the body is
 * read and discarded, so that the client receives the response.
 */
export function readRequestBody(ctx: UwsContext, done: () => void, isKept = true): void {
  const limit = ctx.entry?.maxBodyBytes ?? maxBodyBytes;
  if (Number(ctx.headers["content-length"] ?? 0) > limit) return refuseSize(ctx, done);
  // A body that is not in this packet may never come; the log line has the address then.
  setImmediate(() => {
    if (ctx.body === null) void ctx.address;
  });
  const chunks: Uint8Array[] = [];
  ctx.raw.onData((chunk, isLast) => {
    if (ctx.isClosed || isOver(ctx)) return;
    ctx.numBodyBytes += chunk.byteLength;
    if (ctx.numBodyBytes > limit) return refuseSize(ctx, done);
    // The chunk is emptied when this function returns.
    if (isKept && chunk.byteLength > 0) chunks.push(Buffer.copyBytesFrom(new Uint8Array(chunk)));
    if (!isLast) return;
    ctx.body = chunks.length === 1 ? (chunks[0] ?? null) : Buffer.concat(chunks);
    done();
  });
}

/** True after a refusal in the middle of the body: the rest is discarded. */
const isOver = ({ refusal }: RequestContext) => refusal !== null && endings.has(refusal.code);
const endings: ReadonlySet<ErrorCode> = new Set([
  "request:too_large",
  "request:too_slow",
  "rate_limit:exceeded",
]);

function refuseSize(ctx: RequestContext, done: () => void): void {
  // The refusal of an unknown route or method has precedence (HTTP-17).
  ctx.refusal ??= new AppError("request:too_large");
  ctx.mustClose = true;
  done();
}
