import { hash, timingSafeEqual } from "node:crypto";
import { randomBytes } from "node:crypto";
import { AppError } from "../../platform/errors.ts";
import type { WithRedis } from "../../platform/capabilities.ts";
import type { Caller } from "../../http/auth/auth.ts";

/** OA-02 */
export const stateSeconds = 600;

/** Stored state of a sign-in while the person is at the provider. */
export interface PendingSignIn {
  provider: string;
  /** The player who links, and the session; null for a login. */
  linker: Pick<Caller, "playerId" | "family"> | null;
  redirect: string;
  realm: string;
  nonce: string;
  codeVerifier: string;
  /** SHA-256 of the cookie of the browser that started. */
  browserHash: string;
  /** Of the verifier a native client presents at the callback (RFC 7636, S256); null for a browser. */
  challenge?: string | null;
}

/** A state that its owner has consumed. */
export interface TakenSignIn extends PendingSignIn {
  /** The name that the provider posted; unproven. */
  postedName: string | null;
}

export const randomSecret = (): string => randomBytes(32).toString("base64url");
const secretForm = /^[\w-]{43}$/;
export const isSecret = (text: string | undefined): text is string =>
  text !== undefined && secretForm.test(text);

const keyOf = (state: string) => `oauth:state:${hash("sha256", state)}`;
const nameKeyOf = (state: string) => `oauth:state-name:${hash("sha256", state)}`;
export const browserHash = (cookie: string): string => hash("sha256", cookie);

export async function saveState(
  { redis }: WithRedis,
  state: string,
  pending: PendingSignIn,
): Promise<void> {
  await redis.set(keyOf(state), JSON.stringify(pending), "EX", stateSeconds);
}

async function readState({ redis }: WithRedis, state: string | undefined) {
  const text = isSecret(state) ? await redis.get(keyOf(state)) : null;
  // Only saveState writes such a key.
  return text === null ? null : (JSON.parse(text) as PendingSignIn);
}

export const isStateOpen = async (deps: WithRedis, state: string): Promise<boolean> =>
  (await readState(deps, state)) !== null;

/** Keeps a posted name until the state is consumed: one for each open state of the provider. */
export async function keepPostedName(
  deps: WithRedis,
  { state, provider }: { state: string; provider: string },
  name: string,
): Promise<void> {
  if ((await readState(deps, state))?.provider !== provider) return;
  await deps.redis.set(nameKeyOf(state), name, "EX", stateSeconds);
}

/** Proof that a sign-in ends where it started: the callback address alone is not enough. */
export interface Proof {
  /** The browser's. */
  cookie: string | null;
  /** Verifier of a native client, for its challenge. */
  verifier: string | null;
}

/** True when the proof matches an open state, which stays open. */
export async function holdsState(deps: WithRedis, state: string, proof: Proof): Promise<boolean> {
  const pending = await readState(deps, state);
  return pending !== null && isProven(pending, proof);
}

/** Consumes a state once; a wrong proof leaves the state for its owner (S46). Throws `oauth:state_invalid`. */
export async function takeState(
  deps: WithRedis,
  { state, provider, proof }: { state: string | undefined; provider: string; proof: Proof },
): Promise<TakenSignIn> {
  const { redis } = deps;
  const pending = await readState(deps, state);
  const isOwn = pending?.provider === provider && isProven(pending, proof);
  // One of concurrent calls consumes it.
  const isTaken = isOwn && isSecret(state) && (await redis.del(keyOf(state))) === 1;
  if (!isTaken) throw new AppError("oauth:state_invalid");
  return { ...pending, postedName: await redis.getdel(nameKeyOf(state)) };
}

function isProven({ challenge, browserHash: known }: PendingSignIn, proof: Proof): boolean {
  const { cookie, verifier } = proof;
  if (verifier !== null) return isSame(challengeOf(verifier), challenge ?? "");
  return cookie !== null && isSame(browserHash(cookie), known);
}

/** RFC 7636, 4.2 */
const challengeOf = (verifier: string): string => hash("sha256", verifier, "base64url");

const isSame = (a: string, b: string) =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
