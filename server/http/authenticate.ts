import type { ClosedAccounts } from "../core/closed-accounts.ts";
import { AppError, type ErrorCode } from "../core/errors.ts";
import type { TokenClaims, TokenService } from "../core/tokens.ts";
import type { Caller, SeatCaller } from "./auth.ts";
import type { AuthLevel, RequestInfo } from "./route.ts";

export const seatHeader = "x-lobby-token";
export const seatCookie = "svc_lobby";

/** Below it a closed account is looked for and not found; elsewhere its token is no good (TOK-11). */
export const ownAccountPath = "/v1/users/@me";

/** Who a request comes from, and whether only a cookie says so (HTTP-11). */
export interface Identity {
  caller: Caller | SeatCaller | null;
  playerId: number | null;
  isFromCookie: boolean;
}

const nobody: Identity = { caller: null, playerId: null, isFromCookie: false };

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

const bearerPattern = /^bearer +([^\s,]+) *$/i;

/** Reads the credentials of a request as its route demands (TOK-09, TOK-10, LOB-01, LOB-02). */
export class Authenticator {
  private readonly tokens: TokenService;

  private readonly closed: Pick<ClosedAccounts, "has">;

  constructor(tokens: TokenService, closed: Pick<ClosedAccounts, "has">) {
    this.tokens = tokens;
    this.closed = closed;
  }

  /** `lobby` is the code in the path of a seat route, `path` the route's. Throws the 401, 403, 404 of the level. */
  identify(level: AuthLevel, request: RequestInfo, lobby: string, path: string): Identity {
    if (level === "public") return nobody;
    if (level === "seat" || level === "optional_seat")
      return this.identifySeat(level === "seat", request, lobby.toUpperCase());
    const lost = path.startsWith(ownAccountPath) ? "user:not_found" : "auth:token_invalid";
    const caller = this.bearer(request, level !== "optional", lost);
    if (caller === null) {
      if (level === "optional") return nobody;
      throw refuse("auth:required");
    }
    const isWrongKind =
      (level === "registered" && caller.isGuest) || (level === "guest" && !caller.isGuest);
    if (isWrongKind) throw refuse("auth:forbidden");
    return { caller, playerId: caller.playerId, isFromCookie: false };
  }

  /** API keys will be read here too, beside the bearer token. */
  private bearer(
    request: RequestInfo,
    isDemanded: boolean,
    lost: ErrorCode = "auth:token_invalid",
  ): Caller | null {
    const header = request.headers["authorization"];
    if (header === undefined) return null;
    const token = bearerPattern.exec(header)?.[1];
    if (token === undefined && !/^bearer\b/i.test(header)) return null;
    const claims = token === undefined ? null : this.tokens.verify("access", token);
    const caller = claims === null ? null : readCaller(claims);
    if (caller === null && isDemanded) throw refuse("auth:token_invalid");
    if (caller === null || !this.closed.has(caller.playerId)) return caller;
    if (isDemanded) throw refuse(lost);
    return null;
  }

  private identifySeat(isDemanded: boolean, request: RequestInfo, lobby: string): Identity {
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
    if (player !== null) return seatIdentity(null, player, false);
    if (!isDemanded) return nobody;
    throw refuse(cookie === undefined ? "auth:required" : "lobby:token_invalid");
  }

  private seatOf(token: string, lobby: string): number | null {
    const claims = this.tokens.verify("lobby", token);
    return claims?.lobby?.toUpperCase() === lobby ? (claims.lobby_player ?? null) : null;
  }
}

function seatIdentity(
  seatId: number | null,
  player: Caller | null,
  isCookieSeat: boolean,
): Identity {
  return {
    caller: { seatId, player, isCookieSeat },
    playerId: player?.playerId ?? null,
    isFromCookie: isCookieSeat,
  };
}

function refuse(code: ErrorCode): AppError {
  const isBearer = code === "auth:required" || code === "auth:token_invalid";
  return new AppError(code, isBearer ? { headers: [["WWW-Authenticate", "Bearer"]] } : {});
}
