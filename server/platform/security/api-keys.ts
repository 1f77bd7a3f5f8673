import { hash, timingSafeEqual } from "node:crypto";
import { randomString } from "../ids.ts";
import type { ErrorCode } from "../errors.ts";
import { isOriginCovered } from "./key-origins.ts";

/** Scopes of a key; `*` is all of them (KEY-03). Other texts are stored and grant nothing. */
export type KeyScope =
  | "wallet:read"
  | "awards:write"
  | "trivia:read"
  | "trivia:write"
  | "lobbies:write"
  | "wordgame:write"
  | "profile:read";

/** A cached API key. Times are milliseconds since the epoch. */
export interface CachedApiKey {
  id: number;
  prefix: string;
  secretHash: string;
  ownerId: number;
  ownerName: string;
  /** Slug. */
  realm: string;
  scopes: string[];
  origins: string[];
  isActive: boolean;
  expiresAt: number | null;
  revokedAt: number | null;
  lastUsedAt: number | null;
}

/** A presented text in the form of a key. */
export interface PresentedKey {
  prefix: string;
  secretHash: string;
}

/** Cache of API keys by prefix, at most a second behind Postgres. */
export interface ApiKeyCache {
  /**
   * Null for an unknown key, a wrong secret, or a key of a closed account or realm. A wrong secret takes the same steps
   * as an unknown prefix, so that the time does not tell which prefixes exist (KEY-09).
   */
  find(presented: PresentedKey): Promise<CachedApiKey | null> | CachedApiKey | null;
  /** Records that a request presented the key. */
  recordUse(key: CachedApiKey): void;
}

/** A presented key: usable, or the reason for the refusal. */
export type KeyCheck = { key: CachedApiKey; problem: null } | { key: null; problem: ErrorCode };

const lettersAndDigits = "abcdefghijklmnopqrstuvwxyz0123456789";
const secretAlphabet = lettersAndDigits + "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const plaintextForm = /^(rk[a-z0-9]{10})_[A-Za-z0-9]{43}$/;

export const newKeyPrefix = (): string => `rk${randomString(10, lettersAndDigits)}`;
/** 43 characters of 62 are 256 bits (KEY-02). */
export const newPlaintext = (prefix: string): string =>
  `${prefix}_${randomString(43, secretAlphabet)}`;

/** Stored hash; a plaintext of 256 bits needs no slow hash. */
export const hashOfKey = (plaintext: string): string => hash("sha256", plaintext, "hex");

/** Null when the text is no key. */
export function readKeyText(text: string): PresentedKey | null {
  const prefix = plaintextForm.exec(text)?.[1];
  return prefix === undefined ? null : { prefix, secretHash: hashOfKey(text) };
}

/** Compared when there is no key, so that this takes as long. */
const noHash = "0".repeat(64);

/** `known` if the secret is its own. */
export function withRightSecret(
  known: CachedApiKey | null,
  { secretHash }: PresentedKey,
): CachedApiKey | null {
  return isEqual(known?.secretHash ?? noHash, secretHash) ? known : null;
}

/** Reason to refuse a key from this origin now; null when it is valid (KEY-05, KEY-06). */
export function problemOfKey(
  known: CachedApiKey,
  origin: string | undefined,
  now: number,
): ErrorCode | null {
  if (known.revokedAt !== null) return "key:revoked";
  if (!known.isActive) return "key:invalid";
  if (known.expiresAt !== null && known.expiresAt <= now) return "key:expired";
  return isOriginCovered(known.origins, origin) ? null : "key:origin_forbidden";
}

export const isScopeGranted = (key: CachedApiKey, scope: KeyScope): boolean =>
  key.scopes.includes(scope) || key.scopes.includes("*");

function isEqual(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
