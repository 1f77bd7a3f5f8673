import { createHash } from "node:crypto";
import type { Redis } from "ioredis";
import type { Clock } from "../../platform/time/clock.ts";
import { AppError } from "../../platform/errors.ts";
import { within } from "../health/stores.ts";

/** Browser sessions that were signed out before their expiry, shared by all operator processes (S48). */
export interface EndedSessions {
  /** Rejects if neither store responds. */
  has(session: string): Promise<boolean>;
  /** Rejects if neither store accepted the write. */
  add(session: string): Promise<void>;
}

/** The table of used tokens, whose expired rows are deleted. */
export interface UsedTokens {
  isUsed(id: string): Promise<boolean>;
  use(id: string, expiresAt: Date): Promise<unknown>;
}

/** Lifetime of a browser session. */
export const cookieSeconds = 12 * 3600;

/** Longest wait of a page for one store before its caller is known, in milliseconds. */
export const identityMs = 500;

/** Longer than any session, even if clocks step or differ by a day. */
const keptMs = (cookieSeconds + 86_400) * 1_000;

/**
 * Written to both stores; a session has ended if either of them says so. Postgres loses nothing, and
 * without it the pages must still open, since operators need them during an outage.
 */
export function createEndedSessions(
  redis: Pick<Redis, "exists" | "set">,
  tokens: UsedTokens,
  clock: Clock,
): EndedSessions {
  return {
    async has(session) {
      const id = idOf(session);
      const inRedis = redis.exists(keyOf(id)).then((count) => count > 0);
      const answers = await Promise.all([
        known(tokens.isUsed(id), identityMs),
        known(inRedis, identityMs),
      ]);
      if (answers.every((answer) => answer === null)) throw unavailable();
      return answers.includes(true);
    },
    async add(session) {
      const id = idOf(session);
      const inPostgres = tokens.use(id, new Date(clock.now() + keptMs));
      const inRedis = redis.set(keyOf(id), 1, "PX", keptMs);
      const answers = await Promise.all([known(inPostgres), known(inRedis)]);
      if (answers.every((answer) => answer === null)) throw unavailable();
    },
  };
}

/** The result of a store, or null if it failed. */
const known = <T>(answer: Promise<T>, limitMs?: number) => within<T | null>(answer, null, limitMs);
const unavailable = () => new AppError("server:unavailable", { params: { retry_after: 1 } });

/** A hash, so that the contents of a store cannot open a session. */
const idOf = (session: string) =>
  `operator:${createHash("sha256").update(session).digest("base64url")}`;
const keyOf = (id: string) => `ended:${id}`;
