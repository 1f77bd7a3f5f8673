import type { Headers, RequestInfo } from "../pipeline/route.ts";

/** Dedicated port of the worker that owns the room, for clients that send their next requests to it (HTTP-19). */
export const ownerPortHeader = "X-Owner-Port";

/** Dedicated port of the worker that owns a room of a kind; null without one. The owner changes at run time. */
export type OwnerPortSource = (kind: string, code: string) => number | null;

/** Names the port of an owner, unless the request arrived there; for responses of routes without `{code}`. */
export function ownerHeaders(
  port: number | null,
  { workerPort }: Pick<RequestInfo, "workerPort">,
): Headers {
  return port === null || port === workerPort ? [] : [[ownerPortHeader, String(port)]];
}
