import type { AppError } from "../../platform/errors.ts";
import type { KeyCheck } from "../../platform/security/api-keys.ts";
import { toAppError } from "../pipeline/failures.ts";
import { requireForm } from "../pipeline/form.ts";
import type { Authorizer } from "../pipeline/listener.ts";
import type { RouteEntry } from "../pipeline/entry.ts";
import type { RequestContext } from "../pipeline/request-context.ts";
import type { AnyRoute } from "../pipeline/route.ts";
import type { HttpDeps } from "../deps.ts";
import { Authenticator } from "./authenticate.ts";
import { visitProblem, type Cors } from "./cors.ts";
import { scopeOf } from "./key-use.ts";
import { keyHeader, PresentedKeys } from "./presented-keys.ts";

/** Authorizes the callers of the public listener: players, seats and API keys. */
export class PlayerAuthorizer implements Authorizer {
  readonly #authenticator: Authenticator;
  readonly #keys: PresentedKeys;
  readonly #cors: Cors;

  constructor(
    {
      tokens,
      closedAccounts,
      keys,
      clock,
    }: Pick<HttpDeps, "tokens" | "closedAccounts" | "keys" | "clock">,
    cors: Cors,
  ) {
    this.#authenticator = new Authenticator(tokens, closedAccounts);
    this.#keys = new PresentedKeys(keys, clock);
    this.#cors = cors;
  }

  authorize(ctx: RequestContext, entry: RouteEntry): AppError | null | Promise<AppError | null> {
    if (entry.keyUse === "nothing" || ctx.headers[keyHeader] === undefined)
      return this.#identify(ctx, entry, null);
    return this.#keys
      .check(ctx)
      .then((key) => (ctx.isClosed ? null : this.#identify(ctx, entry, key)));
  }

  previewForm(ctx: RequestContext, { route, keyUse }: RouteEntry): readonly string[] {
    requireForm(ctx.headers);
    const address = `a${ctx.ip}`;
    if (keyUse !== "nothing") return [address];
    const { auth: level, path } = route;
    const demand = { level, path, kind: "", code: "", key: null, isCounted: false };
    const { playerId } = this.#authenticator.authorize(ctx, demand);
    return playerId === null ? [address] : [address, `p${playerId}`];
  }

  holdsSeat(ctx: RequestContext, { route, roomParam }: RouteEntry): boolean {
    if (route.room === undefined) return false;
    return this.#authenticator.holdsSeat(ctx, route.room, ctx.paramValues[roomParam] ?? "");
  }

  /** Authorizes the caller. Returns the 401 or 403 of the level, or the refusal of a cookie from another site. */
  #identify(ctx: RequestContext, entry: RouteEntry, check: KeyCheck | null): AppError | null {
    if (check === null && entry.isAnonymous) return null;
    const { auth: level, rare, setsCookie, path, room: kind = "" } = entry.route;
    const code = entry.roomParam < 0 ? "" : (ctx.paramValues[entry.roomParam] ?? "");
    const scope = scopeOf(entry.keyUse);
    const key = check === null || scope === null ? null : { check, scope };
    ctx.keyOwner = check?.key?.ownerId ?? null;
    try {
      const isCounted = entry.limit !== null;
      const requirement = { level, path, kind, code, key, isCounted };
      const identity = this.#authenticator.authorize(ctx, requirement);
      ctx.caller = identity.caller;
      ctx.playerId = identity.playerId;
      ctx.seatId = identity.seatId;
      const cookie = rare?.cookieAuthority;
      const hasCookie = cookie !== undefined && ctx.cookies[cookie] !== undefined;
      const isByCookie = entry.isWrite && (hasCookie || identity.isFromCookie);
      const problem = isByCookie ? this.#cors.pageProblem(ctx) : null;
      return problem ?? this.#siteProblem(ctx, setsCookie);
    } catch (error) {
      return toAppError(error);
    }
  }

  /** Refusal when another site would set a cookie; a request with an API key gets no cookie (S45). */
  #siteProblem(ctx: RequestContext, setsCookie: AnyRoute["setsCookie"]): AppError | null {
    if (setsCookie === undefined || ctx.keyOwner !== null) return null;
    return setsCookie === "by-page" ? this.#cors.siteProblem(ctx) : visitProblem(ctx);
  }
}
