import { createHash, createSecretKey, hkdfSync, type KeyObject } from "node:crypto";
import jwt from "jsonwebtoken";
import { LRUCache } from "lru-cache";
import type { Clock } from "../time/clock.ts";
import type { Config } from "../config/config.ts";
import { randomId } from "../ids.ts";
import { firstKind } from "../room-names.ts";

/** Purpose of a token = its audience = its key (TOK-01, TOK-02). */
export type TokenType =
  | "access"
  | "refresh"
  | "passport"
  | "password_reset"
  | "email_verify"
  | "address_restore"
  | "reclaim"
  | "hub"
  | "lobby";

export interface TokenClaims {
  sub: string;
  aud: TokenType;
  jti: string;
  /** Seconds since the epoch by the signer's clock, for people who read a token; never compared with anything. */
  iat: number;
  /** Seconds since the epoch, strict on the verifier's clock. */
  exp: number;
  /** access */
  roles?: string[];
  realm?: string;
  name?: string;
  /** email_verify: normal form of the address. */
  email?: string;
  /** access, refresh: session family id; refresh, reclaim: generation. */
  fam?: string;
  gen?: number;
  /** lobby: the kind of the room, see `roomKindOf`. */
  kind?: string;
  /** hub, lobby: code of the room. */
  lobby?: string;
  lobby_player?: number;
  subscribe?: string[];
  /** hub, for several rooms: the seat in each topic of `subscribe`, which may name one again; null for a spectator. */
  seats?: (number | null)[];
  /** hub: a stream without a seat, for public lobbies only (HUB-08). */
  spectator?: boolean;
}

/** Grace period in which the tokens before a rotation are still accepted (TOK-04, OA-08, S6). */
export const refreshGraceMs = 30_000;

export interface TokenService {
  sign(type: TokenType, subject: string, seconds: number, claims?: Partial<TokenClaims>): string;
  /** The claims, or null for anything that is not a valid, unexpired token of exactly this type. */
  verify(type: TokenType, token: string): TokenClaims | null;
}

/** Claims of the token of a seat. */
export const seatClaims = (kind: string, code: string, seatId: number): Partial<TokenClaims> => ({
  ...(kind === firstKind ? {} : { kind }),
  lobby: code,
  lobby_player: seatId,
});

/** Kind of the room that a seat token is for. */
export const roomKindOf = ({ kind = firstKind }: TokenClaims): string => kind;

/** Maximum length of a token; longer texts are refused before any work. */
const maxTokenLength = 2_048;
const algorithm = "HS256";
/** Header members beside the algorithm and the key. */
const headerType = "JWT";
/** Members of the header: a token with any other (`crit`, `b64`, `jku`, ...) is refused. */
const headerNames: ReadonlySet<string> = new Set(["alg", "typ", "kid"]);
/** Verified tokens cached per process, and those it has signed. */
const maxVerified = 20_000;
/** Types sent with every request; a hub token is sent once per stream. */
const cachedTypes: ReadonlySet<TokenType> = new Set(["access", "lobby"]);
/**
 * Types used soon after they were signed, mostly at the same process. Without this cache and the pool of ids a seat costs
 * 1.17x (`bench -- lobby seats` of 78e86f62).
 */
const cachedWhenSigned: ReadonlySet<TokenType> = new Set([...cachedTypes, "hub"]);

/** Signs and verifies every token of the service; verification is synchronous and never throws (TOK-01, S5). */
export function createTokenService(config: Config, clock: Clock): TokenService {
  const current = keyring(config.APP_SECRET);
  const previous = config.APP_SECRET_PREVIOUS === "" ? null : keyring(config.APP_SECRET_PREVIOUS);
  const verified = new LRUCache<string, TokenClaims>({ max: maxVerified });
  const seconds = () => Math.floor(clock.now() / 1000);

  function check(type: TokenType, token: string, now: number): TokenClaims | null {
    try {
      const [header, body] = token.split(".", 2).map(readJson);
      const kid = isHeader(header) ? header.kid : null;
      const ring = [current, previous].find((known) => known?.kid === kid);
      if (!ring || body === undefined) return null;
      const payload: unknown = jwt.verify(token, ring.key(type), {
        algorithms: [algorithm],
        audience: type,
        issuer: config.TOKEN_ISSUER,
        clockTimestamp: now,
      });
      return isClaims(payload, type) ? Object.freeze(payload) : null;
    } catch {
      return null;
    }
  }

  return {
    sign(type, subject, lifetime, claims = {}) {
      const now = seconds();
      const fixed = { iss: config.TOKEN_ISSUER, aud: type, sub: subject };
      const payload = { jti: randomId(), ...claims, ...fixed, iat: now, exp: now + lifetime };
      const token = jwt.sign(payload, current.key(type), { algorithm, keyid: current.kid });
      if (cachedWhenSigned.has(type)) {
        // The claims as a verification reads them, unless it refuses them.
        const read: unknown = JSON.parse(JSON.stringify(payload));
        if (isClaims(read, type)) verified.set(token, Object.freeze(read));
      }
      return token;
    },
    verify(type, token) {
      if (token.length > maxTokenLength) return null;
      const now = seconds();
      const isCached = cachedTypes.has(type);
      const known = cachedWhenSigned.has(type) ? verified.get(token) : undefined;
      // The cache key is the whole token, so a hit needs a check of purpose and times only.
      const claims = known?.aud === type ? known : check(type, token, now);
      // `iat` is not checked: the signer's clock may be ahead, or ours was set back since (S40).
      if (!claims || claims.exp <= now) return null;
      if (isCached && !known) verified.set(token, claims);
      return claims;
    },
  };
}

/** Key id: identifies the secret without revealing it. */
export function keyIdOf(secret: string): string {
  const derived = Buffer.from(hkdfSync("sha256", secret, "", "kid", 32));
  return createHash("sha256").update(derived).digest("base64url").slice(0, 8);
}

interface Keyring {
  kid: string;
  key(type: TokenType): KeyObject;
}

function keyring(secret: string): Keyring {
  const derive = (info: string) => Buffer.from(hkdfSync("sha256", secret, "", info, 32));
  const keys = new Map<TokenType, KeyObject>();
  return {
    kid: keyIdOf(secret),
    key(type) {
      let key = keys.get(type);
      if (!key) keys.set(type, (key = createSecretKey(derive(type))));
      return key;
    },
  };
}

/**
 * The object in a part of a token; throws for anything else. A duplicate member would allow two readings of the same
 * signed text; it is detected because the text is longer than the object serialized again.
 */
function readJson(part: string): object {
  const text = Buffer.from(part, "base64url").toString();
  const value: unknown = JSON.parse(text);
  const withoutSpace = (json: string) => json.replaceAll(/\s/g, "");
  if (typeof value !== "object" || value === null) throw new Error("not an object");
  if (withoutSpace(JSON.stringify(value)) !== withoutSpace(text)) throw new Error("ambiguous");
  return value;
}

function isHeader(header: object | undefined): header is { kid: unknown } {
  const { alg, typ } = (header ?? {}) as { alg?: unknown; typ?: unknown };
  const names = Object.keys(header ?? {});
  return alg === algorithm && typ === headerType && names.every((name) => headerNames.has(name));
}

function isClaims(payload: unknown, type: TokenType): payload is TokenClaims {
  if (typeof payload !== "object" || payload === null) return false;
  const { sub, aud, jti, iat, exp } = payload as Partial<Record<keyof TokenClaims, unknown>>;
  return (
    typeof sub === "string" &&
    aud === type &&
    typeof jti === "string" &&
    Number.isSafeInteger(iat) &&
    Number.isSafeInteger(exp)
  );
}
