import { hash, timingSafeEqual } from "node:crypto";
import { randomBytes } from "node:crypto";
import { AppError } from "../../core/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Caller } from "../../http/auth.ts";

/** OA-02 */
export const stateSeconds = 600;

/** What is remembered of a sign-in while the person is at the provider. */
export interface PendingSignIn {
  provider: string;
  /** Who links, and by which session; null for a login. */
  linker: Pick<Caller, "playerId" | "family"> | null;
  redirect: string;
  realm: string;
  nonce: string;
  codeVerifier: string;
  /** SHA-256 of the cookie of the browser that began. */
  browserHash: string;
}

export const randomSecret = (): string => randomBytes(32).toString("base64url");
const secretForm = /^[\w-]{43}$/;
export const isSecret = (text: string | undefined): text is string =>
  text !== undefined && secretForm.test(text);

const keyOf = (state: string) => `oauth:state:${hash("sha256", state)}`;
export const browserHash = (cookie: string): string => hash("sha256", cookie);

export async function saveState(
  { redis }: Pick<Deps, "redis">,
  state: string,
  pending: PendingSignIn,
): Promise<void> {
  await redis.set(keyOf(state), JSON.stringify(pending), "EX", stateSeconds);
}

/**
 * Takes a state away, so that it is good once. `cookie` is the browser's; null when the caller is no
 * browser: such a client compares the state by itself. Refused with `oauth:state_invalid`.
 */
export async function takeState(
  { redis }: Pick<Deps, "redis">,
  {
    state,
    provider,
    cookie,
  }: { state: string | undefined; provider: string; cookie: string | null },
): Promise<PendingSignIn> {
  const text = isSecret(state) ? await redis.getdel(keyOf(state)) : null;
  // Nobody but saveState writes under such a key.
  const pending = text === null ? null : (JSON.parse(text) as PendingSignIn);
  if (pending?.provider !== provider) throw new AppError("oauth:state_invalid");
  if (cookie !== null && !isSame(browserHash(cookie), pending.browserHash))
    throw new AppError("oauth:state_invalid");
  return pending;
}

const isSame = (a: string, b: string) =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
