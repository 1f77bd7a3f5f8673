import { createHash, createSecretKey, hkdfSync, type KeyObject } from "node:crypto";
import jwt from "jsonwebtoken";
import type { Clock } from "./clock.ts";
import type { Config } from "./config.ts";
import { randomId } from "./ids.ts";

/** Purpose of a token = its audience = its key (TOK-01, TOK-02). */
export type TokenType =
  | "access"
  | "refresh"
  | "passport"
  | "password_reset"
  | "email_verify"
  | "reclaim"
  | "hub"
  | "lobby";

export interface TokenClaims {
  sub: string;
  aud: TokenType;
  jti: string;
  /** Seconds since the epoch. */
  iat: number;
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
  /** hub, lobby */
  lobby?: string;
  lobby_player?: number;
  subscribe?: string[];
  /** hub: a stream without a seat, for public lobbies only (HUB-08). */
  spectator?: boolean;
}

export interface TokenService {
  sign(type: TokenType, subject: string, seconds: number, claims?: Partial<TokenClaims>): string;
  /** The claims, or null for anything that is not a valid, unexpired token of exactly this type. */
  verify(type: TokenType, token: string): TokenClaims | null;
}

/** Longer texts are no tokens of ours; they are refused before any work is done. */
const maxTokenLength = 2_048;
const issuedAtLeewaySeconds = 5;
/** Verified tokens remembered per process: two generations of this size. */
const cacheHalf = 10_000;
/** Characters of an HS256 signature. */
const signatureLength = 43;
/** Shown with every request; one of the hub is shown once for a stream. */
const cachedTypes: ReadonlySet<TokenType> = new Set(["access", "lobby"]);

/** Signs and verifies every token of the service; verification is synchronous and never throws (TOK-01, S5). */
export function createTokenService(config: Config, clock: Clock): TokenService {
  const current = keyring(config.APP_SECRET);
  const previous = config.APP_SECRET_PREVIOUS === "" ? null : keyring(config.APP_SECRET_PREVIOUS);
  const cache = createCache();
  const seconds = () => Math.floor(clock.now() / 1000);

  function check(type: TokenType, token: string, now: number): TokenClaims | null {
    const ring = [current, previous].find((known) => known?.kid === kidOf(token));
    if (!ring) return null;
    try {
      const payload: unknown = jwt.verify(token, ring.key(type), {
        algorithms: ["HS256"],
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
      return jwt.sign(payload, current.key(type), { algorithm: "HS256", keyid: current.kid });
    },
    verify(type, token) {
      if (token.length > maxTokenLength) return null;
      const now = seconds();
      const isCached = cachedTypes.has(type);
      const known = isCached ? cache.get(token) : undefined;
      // A key of the cache is the whole token, so a known one needs its purpose and times only.
      const claims = known?.aud === type ? known : check(type, token, now);
      if (!claims || claims.exp <= now || claims.iat > now + issuedAtLeewaySeconds) return null;
      if (isCached && !known) cache.set(token, claims);
      return claims;
    },
  };
}

interface Keyring {
  /** Names the secret without telling anything about it. */
  kid: string;
  key(type: TokenType): KeyObject;
}

function keyring(secret: string): Keyring {
  const derive = (info: string) => Buffer.from(hkdfSync("sha256", secret, "", info, 32));
  const keys = new Map<TokenType, KeyObject>();
  return {
    kid: createHash("sha256").update(derive("kid")).digest("base64url").slice(0, 8),
    key(type) {
      let key = keys.get(type);
      if (!key) keys.set(type, (key = createSecretKey(derive(type))));
      return key;
    },
  };
}

function kidOf(token: string): unknown {
  try {
    const header: unknown = JSON.parse(
      Buffer.from(token.slice(0, token.indexOf(".")), "base64url").toString(),
    );
    return (header as { kid?: unknown } | null)?.kid;
  } catch {
    return undefined;
  }
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

interface Verified {
  token: string;
  claims: TokenClaims;
}

/**
 * Two generations: the older is dropped whole when the younger is full, so that no use costs a sort. Tokens are
 * found by their signatures, which are a seventh of what would have to be hashed, and compared whole.
 */
function createCache() {
  let young = new Map<string, Verified>();
  let old = new Map<string, Verified>();
  const signatureOf = (token: string) => token.slice(-signatureLength);
  function keep(signature: string, verified: Verified): void {
    if (young.size >= cacheHalf) {
      old = young;
      young = new Map();
    }
    young.set(signature, verified);
  }
  return {
    set(token: string, claims: TokenClaims): void {
      keep(signatureOf(token), { token, claims });
    },
    get(token: string): TokenClaims | undefined {
      const signature = signatureOf(token);
      const recent = young.get(signature);
      if (recent) return recent.token === token ? recent.claims : undefined;
      const older = old.get(signature);
      if (older?.token !== token) return undefined;
      keep(signature, older);
      return older.claims;
    },
  };
}
