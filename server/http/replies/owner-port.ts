import type { Headers, RequestInfo } from "../pipeline/route.ts";

/**
 * Response header: dedicated port of the worker that owns the room, to which clients send their next
 * requests (HTTP-19).
 */
export const ownerPortHeader = "X-Owner-Port";

/** Dedicated port of the worker that owns a room of a kind; null without one. The owner changes at run time. */
export type OwnerPortSource = (kind: string, code: string) => number | null;

/** Adds the owner's port to a response, unless the request arrived there; for routes without `{code}`. */
export function ownerHeaders(
  port: number | null,
  { workerPort }: Pick<RequestInfo, "workerPort">,
): Headers {
  return port === null || port === workerPort ? [] : [[ownerPortHeader, String(port)]];
}
