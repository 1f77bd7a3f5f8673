import { createHash } from "node:crypto";
import type { Redis } from "ioredis";
import type { Clock } from "../platform/time/clock.ts";
import { AppError } from "../platform/errors.ts";
import { cookieSeconds } from "./identity.ts";
import { within } from "./stores.ts";

/** Sessions of browsers that were signed out before their end, as every operator process sees them (S48). */
export interface EndedSessions {
  /** Rejects while neither store answers. */
  has(session: string): Promise<boolean>;
  /** Rejects when neither store took it. */
  add(session: string): Promise<void>;
}

/** The table of used tokens, which is tidied as they expire. */
export interface UsedTokens {
  isUsed(id: string): Promise<boolean>;
  use(id: string, expiresAt: Date): Promise<unknown>;
}

/** No session lasts as long, even where clocks step or differ by a day. */
const keptMs = (cookieSeconds + 86_400) * 1_000;

/**
 * Kept in both stores, and ended when either says so: Postgres forgets nothing, and without it the pages still
 * open, as they have to when it fails.
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
      const answers = await Promise.all([known(tokens.isUsed(id)), known(inRedis)]);
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

/** What a store answers, or null. */
const known = <T>(answer: Promise<T>) => within<T | null>(answer, null);
const unavailable = () => new AppError("server:unavailable", { params: { retry_after: 1 } });

/** Whoever reads a store learns nothing that opens a session. */
const idOf = (session: string) =>
  `operator:${createHash("sha256").update(session).digest("base64url")}`;
const keyOf = (id: string) => `ended:${id}`;
