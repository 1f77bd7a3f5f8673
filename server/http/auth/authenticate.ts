import {
  isScopeGranted,
  type KeyCheck,
  type KeyScope,
  type CachedApiKey,
} from "../../platform/security/api-keys.ts";
import type { ClosedAccounts } from "../../platform/security/closed-accounts.ts";
import { AppError, type ErrorCode } from "../../platform/errors.ts";
import { lobbyCodeOf } from "../../platform/text/lobby-codes.ts";
import type { TokenClaims, TokenService } from "../../platform/security/tokens.ts";
import type { Caller, SeatCaller } from "./auth.ts";
import type { AuthLevel, RequestInfo } from "../pipeline/route.ts";

export const seatHeader = "x-lobby-token";
export const seatCookie = "svc_lobby";

/** Below it a closed account is looked for and not found; elsewhere its token is no good (TOK-11). */
export const ownAccountPath = "/v1/users/@me";

/** Who a request comes from, and whether only a cookie says so (HTTP-11). */
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

/** What a route asks of whoever calls it. */
export interface Demand {
  level: AuthLevel;
  /** Of the route, not of the request. */
  path: string;
  /** The code in the path of a seat route. */
  lobby: string;
  key: KeyCredential | null;
  /** The request is counted: where nobody has to be known, who is known has the limit of a player (GW-12). */
  isCounted: boolean;
}

/** An hour, as if it were an access token: who holds it asks again (TOK-03). */
const keyCallerSeconds = 3_600;

const bearerPattern = /^bearer +([^\s,]+) *$/i;

/** Reads the credentials of a request as its route demands (TOK-09, TOK-10, LOB-01, LOB-02). */
export class Authenticator {
  private readonly tokens: TokenService;
  private readonly closed: Pick<ClosedAccounts, "has" | "hasUpgraded" | "hasEnded">;

  constructor(
    tokens: TokenService,
    closed: Pick<ClosedAccounts, "has" | "hasUpgraded" | "hasEnded">,
  ) {
    this.tokens = tokens;
    this.closed = closed;
  }

  /** Throws the 401, 403, 404 of the level. */
  identify(request: RequestInfo, demand: Demand): Identity {
    const { level, path, key } = demand;
    if (level === "public") {
      const known = demand.isCounted ? this.bearer(request, false) : null;
      return known === null ? nobody : { ...nobody, playerId: known.playerId };
    }
    if (level === "seat" || level === "optional_seat") return this.identifySeat(request, demand);
    const lost = lostCodes[path.startsWith(ownAccountPath) ? "ownAccount" : "elsewhere"];
    const bearer = this.bearer(request, level !== "optional", level === "guest" ? notGuest : lost);
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

  /** Whether a request carries the token of a seat in this lobby, at whatever level. */
  holdsSeat({ headers, cookies }: RequestInfo, code: string): boolean {
    const lobby = lobbyCodeOf(code);
    const tokens = [headers[seatHeader]?.trim(), cookies[seatCookie]];
    return tokens.some((token) => token !== undefined && this.seatOf(token, lobby) !== null);
  }

  private bearer(
    request: RequestInfo,
    isDemanded: boolean,
    lost: LostCodes = lostCodes.elsewhere,
  ): Caller | null {
    const header = request.headers["authorization"];
    if (header === undefined) return null;
    const token = bearerPattern.exec(header)?.[1];
    if (token === undefined && !/^bearer\b/i.test(header)) return null;
    const claims = token === undefined ? null : this.tokens.verify("access", token);
    const caller = claims === null ? null : readCaller(claims);
    if (caller === null && isDemanded) throw refuse("auth:token_invalid");
    if (caller === null) return null;
    const { playerId, isGuest, family } = caller;
    if (this.closed.has(playerId)) return lostCaller(isDemanded, lost.closed);
    if (this.closed.hasEnded(family)) return lostCaller(isDemanded, "auth:token_invalid");
    // A guest's token never speaks for the account that the guest has become.
    const isOutdated = isGuest && this.closed.hasUpgraded(playerId);
    return isOutdated ? lostCaller(isDemanded, lost.upgraded) : caller;
  }

  private identifySeat(request: RequestInfo, { level, lobby: code, key }: Demand): Identity {
    const isDemanded = level === "seat";
    const lobby = lobbyCodeOf(code);
    const header = request.headers[seatHeader];
    if (header !== undefined) {
      const seat = this.seatOf(header.trim(), lobby);
      if (seat === null && isDemanded) throw refuse("lobby:token_invalid");
      if (seat !== null) return seatIdentity(seat, this.bearer(request, false), false);
    }
    const cookie = request.cookies[seatCookie];
    const seat = cookie === undefined ? null : this.seatOf(cookie, lobby);
    const player = this.bearer(request, isDemanded && seat === null);
    if (seat !== null) return seatIdentity(seat, player, true);
    const caller = player === null ? callerOfKey(key, isDemanded) : withRealmOf(key, player);
    if (caller !== null) return seatIdentity(null, caller, false);
    if (!isDemanded) return nobody;
    throw refuse(cookie === undefined ? "auth:required" : "lobby:token_invalid");
  }

  private seatOf(token: string, lobby: string | null): number | null {
    const claims = this.tokens.verify("lobby", token);
    return claims?.lobby === lobby ? (claims?.lobby_player ?? null) : null;
  }
}

/** Why a token of a player is refused who has closed the account, or become one since. */
interface LostCodes {
  closed: ErrorCode;
  upgraded: ErrorCode;
}

const lostCodes = {
  ownAccount: { closed: "user:not_found", upgraded: "auth:token_invalid" },
  elsewhere: { closed: "auth:token_invalid", upgraded: "auth:token_invalid" },
} as const satisfies Record<string, LostCodes>;
/** Only a guest can be upgraded (TOK-10). */
const notGuest: LostCodes = { closed: "auth:token_invalid", upgraded: "auth:forbidden" };

function lostCaller(isDemanded: boolean, code: ErrorCode): null {
  if (isDemanded) throw refuse(code);
  return null;
}

/**
 * The owner of the key; throws why it may not act here (KEY-04), unless anybody may call: then such
 * a key is none, as a bad token is (TOK-09). Null without a key.
 */
function callerOfKey(credential: KeyCredential | null, isDemanded = true): Caller | null {
  if (credential === null) return null;
  const { check, scope } = credential;
  const isGranted = check.key !== null && isScopeGranted(check.key, scope);
  if (isGranted) return ownerOf(check.key);
  if (!isDemanded) return null;
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

/** Beside a bearer token a key says no more than the realm (KEY-01). */
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
