/**
 * What an occurrence or a piece of work goes back to. It is handed on as a value; nothing looks it up in the context of
 * a call.
 */
export interface Origin {
  /** `X-Request-Id` of the request. */
  readonly requestId: string | null;
  readonly playerId: number | null;
  /** Kind and code, such as `lobby ABC234`. */
  readonly room: string | null;
}

/** Work that no request or room caused, such as a periodic job. */
export const noOrigin: Origin = Object.freeze({ requestId: null, playerId: null, room: null });

export const originOfPlayer = (playerId: number | null): Origin => ({ ...noOrigin, playerId });
