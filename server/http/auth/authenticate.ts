import {
  isScopeGranted,
  type KeyCheck,
  type KeyScope,
  type CachedApiKey,
} from "../../platform/security/api-keys.ts";
import type { ClosedAccounts } from "../../platform/security/closed-accounts.ts";
import { AppError, type ErrorCode } from "../../platform/errors.ts";
import { namesOf } from "../../platform/room-names.ts";
import { roomCodeOf } from "../../platform/text/room-codes.ts";
import { roomKindOf, type TokenClaims, type TokenService } from "../../platform/security/tokens.ts";
import type { Caller, SeatCaller } from "./auth.ts";
import type { AuthLevel, RequestInfo } from "../pipeline/route.ts";

/** Under this path a token of a closed account gets 404, elsewhere 401 (TOK-11). */
export const ownAccountPath = "/v1/users/@me";

/** Identity of the caller, and whether only a cookie proves it (HTTP-11). */
export interface Identity {
  caller: Caller | SeatCaller | null;
  playerId: number | null;
  seatId: number | null;
  isFromCookie: boolean;
}

const nobody: Identity = { caller: null, playerId: null, seatId: null, isFromCookie: false };

function readCaller(claims: TokenClaims): Caller | null {
  const playerId = Number(claims.sub);
  if (!Number.isSafeInteger(playerId) || playerId <= 0) return null;
  const roles = claims.roles ?? [];
  return {
    playerId,
    name: claims.name ?? "",
    roles,
    isGuest: !roles.includes("ROLE_REGISTERED"),
    realm: claims.realm ?? "",
    family: claims.fam ?? "",
    expiresAt: claims.exp,
  };
}

/** The API key of a request, on a route where it may act as its owner. */
export interface KeyCredential {
  check: KeyCheck;
  scope: KeyScope;
}

/** Auth requirement of a route. */
export interface AuthRequirement {
  level: AuthLevel;
  /** Of the route, not of the request. */
  path: string;
  /** Of a seat route: the kind of its rooms, and the code in its path. */
  kind: string;
  code: string;
  key: KeyCredential | null;
  /** The request is rate limited: on a public route a known player gets the limit of players (GW-12). */
  isCounted: boolean;
}

/** Lifetime of the identity of a key caller, that of an access token (TOK-03). */
const keyCallerSeconds = 3_600;

const bearerPattern = /^bearer +([^\s,]+) *$/i;

/** Authorizes requests by the auth requirement of their route (TOK-09, TOK-10, LOB-01, LOB-02). */
export class Authenticator {
  readonly #tokens: TokenService;
  readonly #closed: Pick<ClosedAccounts, "has" | "hasUpgraded" | "hasEnded">;

  constructor(
    tokens: TokenService,
    closed: Pick<ClosedAccounts, "has" | "hasUpgraded" | "hasEnded">,
  ) {
    this.#tokens = tokens;
    this.#closed = closed;
  }

  /** Throws the 401, 403, 404 of the level. */
  authorize(request: RequestInfo, requirement: AuthRequirement): Identity {
    const { level, path, key } = requirement;
    if (level === "public") {
      const known = requirement.isCounted ? this.#bearer(request, false) : null;
      return known === null ? nobody : { ...nobody, playerId: known.playerId };
    }
    if (level === "seat" || level === "optional_seat")
      return this.#identifySeat(request, requirement);
    const lost = rejectionCodes[path.startsWith(ownAccountPath) ? "ownAccount" : "elsewhere"];
    const bearer = this.#bearer(request, level !== "optional", level === "guest" ? notGuest : lost);
    const caller = bearer === null ? callerOfKey(key) : withRealmOf(key, bearer);
    if (caller === null) {
      if (level === "optional") return nobody;
      throw refuse("auth:required");
    }
    const isWrongKind =
      (level === "registered" && caller.isGuest) || (level === "guest" && !caller.isGuest);
    if (isWrongKind) throw refuse("auth:forbidden");
    return { caller, playerId: caller.playerId, seatId: null, isFromCookie: false };
  }

  /** Whether a request carries the token of a seat in this room, at whatever level. */
  holdsSeat({ headers, cookies }: RequestInfo, kind: string, code: string): boolean {
    const exact = roomCodeOf(code);
    const { seatHeader, seatCookie } = namesOf(kind);
    const tokens = [headers[seatHeader.toLowerCase()]?.trim(), cookies[seatCookie]];
    return tokens.some((token) => token !== undefined && this.#seatOf(token, kind, exact) !== null);
  }

  #bearer(
    request: RequestInfo,
    isRequired: boolean,
    lost: RejectionCodes = rejectionCodes.elsewhere,
  ): Caller | null {
    const header = request.headers["authorization"];
    if (header === undefined) return null;
    const token = bearerPattern.exec(header)?.[1];
    if (token === undefined && !/^bearer\b/i.test(header)) return null;
    const claims = token === undefined ? null : this.#tokens.verify("access", token);
    const caller = claims === null ? null : readCaller(claims);
    if (caller === null && isRequired) throw refuse("auth:token_invalid");
    if (caller === null) return null;
    const { playerId, isGuest, family } = caller;
    if (this.#closed.has(playerId)) return rejectedCaller(isRequired, lost.closed);
    if (this.#closed.hasEnded(family)) return rejectedCaller(isRequired, "auth:token_invalid");
    // The token of an upgraded guest never grants access to the new account.
    const isOutdated = isGuest && this.#closed.hasUpgraded(playerId);
    return isOutdated ? rejectedCaller(isRequired, lost.upgraded) : caller;
  }

  #identifySeat(
    request: RequestInfo,
    { level, kind, code: given, key }: AuthRequirement,
  ): Identity {
    const isRequired = level === "seat";
    const code = roomCodeOf(given);
    const { seatHeader, seatCookie, seatRefusal } = namesOf(kind);
    const header = request.headers[seatHeader.toLowerCase()];
    if (header !== undefined) {
      const seat = this.#seatOf(header.trim(), kind, code);
      if (seat === null && isRequired) throw refuse(seatRefusal);
      if (seat !== null) return seatIdentity(seat, this.#bearer(request, false), false);
    }
    const cookie = request.cookies[seatCookie];
    const seat = cookie === undefined ? null : this.#seatOf(cookie, kind, code);
    const player = this.#bearer(request, isRequired && seat === null);
    if (seat !== null) return seatIdentity(seat, player, true);
    const caller = player === null ? callerOfKey(key, isRequired) : withRealmOf(key, player);
    if (caller !== null) return seatIdentity(null, caller, false);
    if (!isRequired) return nobody;
    throw refuse(cookie === undefined ? "auth:required" : seatRefusal);
  }

  /** A room of another kind may have the same code. */
  #seatOf(token: string, kind: string, code: string | null): number | null {
    const claims = this.#tokens.verify("lobby", token);
    if (claims === null || claims.lobby !== code || roomKindOf(claims) !== kind) return null;
    return claims.lobby_player ?? null;
  }
}

/** Error codes for a token of a closed account or an upgraded guest. */
interface RejectionCodes {
  closed: ErrorCode;
  upgraded: ErrorCode;
}

const rejectionCodes = {
  ownAccount: { closed: "user:not_found", upgraded: "auth:token_invalid" },
  elsewhere: { closed: "auth:token_invalid", upgraded: "auth:token_invalid" },
} as const satisfies Record<string, RejectionCodes>;
/** Only a guest can be upgraded (TOK-10). */
const notGuest: RejectionCodes = { closed: "auth:token_invalid", upgraded: "auth:forbidden" };

function rejectedCaller(isRequired: boolean, code: ErrorCode): null {
  if (isRequired) throw refuse(code);
  return null;
}

/**
 * Returns the owner of the key, or null without a key. A key without the required scope throws (KEY-04), or is
 * ignored like an invalid token when no credential is required (TOK-09).
 */
function callerOfKey(credential: KeyCredential | null, isRequired = true): Caller | null {
  if (credential === null) return null;
  const { check, scope } = credential;
  const isGranted = check.key !== null && isScopeGranted(check.key, scope);
  if (isGranted) return ownerOf(check.key);
  if (!isRequired) return null;
  if (check.key === null) throw refuse(check.problem);
  throw new AppError("key:scope_missing", { params: { scope } });
}

function ownerOf(key: CachedApiKey): Caller {
  return {
    playerId: key.ownerId,
    name: key.ownerName,
    roles: ["ROLE_REGISTERED"],
    isGuest: false,
    realm: key.realm,
    family: "",
    expiresAt: endOf(key),
  };
}

function endOf({ expiresAt }: CachedApiKey): number {
  const end = Math.floor(Date.now() / 1_000) + keyCallerSeconds;
  return expiresAt === null ? end : Math.min(end, Math.floor(expiresAt / 1_000));
}

/** With a bearer token the key selects the realm only (KEY-01). */
function withRealmOf(credential: KeyCredential | null, caller: Caller): Caller {
  const key = credential?.check.key ?? null;
  return key === null ? caller : { ...caller, realm: key.realm };
}

function seatIdentity(
  seatId: number | null,
  player: Caller | null,
  isCookieSeat: boolean,
): Identity {
  return {
    caller: { seatId, player, isCookieSeat },
    playerId: player?.playerId ?? null,
    seatId,
    isFromCookie: isCookieSeat,
  };
}

function refuse(code: ErrorCode): AppError {
  const isBearer = code === "auth:required" || code === "auth:token_invalid";
  return new AppError(code, isBearer ? { headers: [["WWW-Authenticate", "Bearer"]] } : {});
}
