import { exactCodeOf } from "./text/room-codes.ts";
import { parseTraceparent } from "./tracing/tracer.ts";

/**
 * What an occurrence or a piece of work goes back to. It is handed on as a value; nothing looks it up in the context of
 * a call (OPS-30).
 */
export interface Origin {
  /** `X-Request-Id` of the request. */
  readonly requestId: string | null;
  readonly playerId: number | null;
  /** Kind and code, such as `lobby ABC234`. */
  readonly room: string | null;
  /** Of the span that the work belongs to, if there are traces (BOOT-54). */
  readonly traceparent?: string;
}

/** Work that no request or room caused, such as a periodic job. */
export const noOrigin: Origin = Object.freeze({ requestId: null, playerId: null, room: null });

/** Request ids that clients may choose (HTTP-14). */
export const requestIdPattern = "^[A-Za-z0-9._-]{8,64}$";
const requestIdForm = new RegExp(requestIdPattern);

export const isRequestId = (text: string): boolean => requestIdForm.test(text);

/** The origin with the player that the work is for. */
export const withPlayer = (origin: Origin, playerId: number | null): Origin =>
  playerId === null || playerId === origin.playerId ? origin : { ...origin, playerId };

/** The same dependencies for work of another origin. Getters, such as that of `em`, stay getters. */
export const withOrigin = <D extends { readonly origin: Origin }>(deps: D, origin: Origin): D =>
  Object.create(deps, { origin: { value: origin, enumerable: true } }) as D;

/** Room of an origin. */
export const roomName = (kind: string, code: string): string => `${kind} ${code}`;

const roomForm = /^([a-z]{1,32}) (\S{6})$/;

/**
 * The origin in what another process has written, such as the data of a job; `noOrigin` for data of a version without
 * origins. Operators may add jobs with any data, so each part is checked.
 */
export function readOrigin(stored: unknown): Origin {
  if (typeof stored !== "object" || stored === null) return noOrigin;
  const { requestId, playerId, room, traceparent } = stored as Partial<
    Record<keyof Origin, unknown>
  >;
  const isTraced = typeof traceparent === "string" && parseTraceparent(traceparent) !== null;
  return {
    requestId: typeof requestId === "string" && isRequestId(requestId) ? requestId : null,
    playerId: Number.isSafeInteger(playerId) ? (playerId as number) : null,
    room: typeof room === "string" && isRoomName(room) ? room : null,
    ...(isTraced ? { traceparent } : {}),
  };
}

function isRoomName(text: string): boolean {
  const [, , code = ""] = roomForm.exec(text) ?? [];
  return exactCodeOf(code) === code;
}

/** The known parts, for log lines. */
export function originFacts({ requestId, playerId, room }: Origin) {
  return {
    ...(requestId === null ? {} : { request: requestId }),
    ...(playerId === null ? {} : { player: playerId }),
    ...(room === null ? {} : { room }),
  };
}
