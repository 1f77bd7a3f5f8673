import { createHmac } from "node:crypto";
import type { Redis } from "ioredis";
import type { Player } from "../../../../db/entities/player.ts";
import type { LoginKey } from "../../../../db/queries/accounts/players.ts";
import { AppError } from "../../../platform/errors.ts";
import { logSecurity } from "../../../platform/log/security-log.ts";
import type {
  WithClock,
  WithConfig,
  WithFaults,
  WithLog,
  WithRedis,
} from "../../../platform/capabilities.ts";
import { recordDegraded } from "../../../platform/faults/degraded.ts";
import { noOrigin } from "../../../platform/origin.ts";

/**
 * Failed logins per identifier (GW-02). Each step returns the seconds of the remaining lock, 0 without one. A lock
 * set during a password check applies to that check too, so that concurrent guesses get no more attempts than
 * sequential ones.
 */
export interface Lockout {
  remaining(subject: string): Promise<number>;
  /** `playerId`: the player of the identifier, for the security log; null for an unknown one. */
  fail(subject: string, playerId: number | null): Promise<number>;
  succeed(subject: string): Promise<number>;
  /** Ends a lock early; fails while Redis is down, where the lock may be. */
  clear(subject: string): Promise<void>;
}

/**
 * Counter key of failed logins of an identifier, known or unknown. The two identifiers of an account are independent:
 * a shared lock would reveal which name belongs to which address (GW-02).
 */
export const loginSubject = (key: LoginKey): string =>
  "emailKey" in key ? `email:${key.emailKey}` : `name:${key.nameKey}`;

/** Counter key of wrong current passwords of a signed-in account (USR-05). */
export const changeSubject = (playerId: number): string => `player:${playerId}`;

type Named = Pick<Player, "id" | "emailKey" | "nameKey">;

/** One per identifier of an account. */
export const loginSubjectsOf = ({ emailKey, nameKey }: Omit<Named, "id">): string[] => [
  ...(emailKey ? [loginSubject({ emailKey })] : []),
  loginSubject({ nameKey }),
];

const subjectsOf = (account: Named) => [...loginSubjectsOf(account), changeSubject(account.id)];

/** Seconds until the last lock of the account ends. */
export async function lockedSeconds(deps: LockoutDeps, account: Named): Promise<number> {
  const lockout = lockoutOf(deps);
  return Math.max(...(await Promise.all(subjectsOf(account).map(lockout.remaining))));
}

/** Ends every lock of an account; fails while Redis is down. */
export async function endLocks(deps: LockoutDeps, account: Named): Promise<void> {
  const lockout = lockoutOf(deps);
  await Promise.all(subjectsOf(account).map(lockout.clear));
}

/**
 * Ends every lock of an owner who proved their identity in another way (S2). While Redis is down the proof counts all
 * the same: the locks there are not visible either.
 */
export const clearLocks = (deps: LockoutDeps, account: Named): Promise<void> =>
  endLocks(deps, account).catch((error: unknown) => recordFallback(deps, error));

/** Nothing of the identifier is recorded. */
const recordFallback = ({ faults }: Pick<LockoutDeps, "faults">, error: unknown): void =>
  recordDegraded({ faults }, "login-lockout", error, noOrigin);

export function refuseLocked(seconds: number): void {
  if (seconds > 0) throw new AppError("auth:locked", { params: { retry_after: seconds } });
}

type LockoutDeps = WithRedis & WithConfig & WithClock & WithFaults & Partial<WithLog>;
type Settings = Pick<WithConfig["config"], "APP_SECRET" | "LOCKOUT_THRESHOLD" | "LOCKOUT_SECONDS">;

/** Local counters while Redis is down; beyond it the oldest is evicted. */
const maxLocalSubjects = 10_000;

/** Result of the failure that sets the lock. */
const justLocked = -1;

// KEYS[1] lock, KEYS[2] failures. ARGV: threshold, milliseconds. The milliseconds left of the lock.
const failScript = `
local left = redis.call('pttl', KEYS[1])
if left > 0 then return left end
local count = redis.call('incr', KEYS[2])
if count == 1 then redis.call('pexpire', KEYS[2], ARGV[2]) end
if count >= tonumber(ARGV[1]) then
  redis.call('set', KEYS[1], '1', 'px', ARGV[2])
  redis.call('del', KEYS[2])
  return ${justLocked}
end
return 0`;
const succeedScript = `
local left = redis.call('pttl', KEYS[1])
if left > 0 then return left end
redis.call('del', KEYS[2])
return 0`;

/** Counts in Redis, and per process while Redis is down. */
export function lockoutOf({ redis, config, clock, faults, log }: LockoutDeps) {
  const local = localLockout(redis, config, clock);
  const keys = (subject: string) => {
    const digest = createHmac("sha256", config.APP_SECRET).update(`login:${subject}`);
    const id = digest.digest("base64url");
    return [`login:{${id}}:lock`, `login:{${id}}:fails`] as const;
  };
  const run = async (script: string, subject: string): Promise<number> => {
    const [lock, fails] = keys(subject);
    const { LOCKOUT_THRESHOLD: threshold, LOCKOUT_SECONDS: seconds } = config;
    const left = await redis.eval(script, 2, lock, fails, threshold, seconds * 1000);
    return left === justLocked ? justLocked : toSeconds(Number(left));
  };
  const failed = (player: number | null, seconds: number): number => {
    if (seconds !== justLocked) return seconds;
    if (log) logSecurity({ log }, "login_locked", { player });
    return 0;
  };
  const orLocally = <T>(counted: Promise<T>, count: () => T): Promise<T> =>
    counted.catch((error: unknown) => {
      recordFallback({ faults }, error);
      return count();
    });
  const lockout: Lockout = {
    remaining: (subject) =>
      orLocally(redis.pttl(keys(subject)[0]).then(toSeconds), () => local.remaining(subject)),
    fail: async (subject, playerId) =>
      failed(playerId, await orLocally(run(failScript, subject), () => local.fail(subject))),
    succeed: (subject) => orLocally(run(succeedScript, subject), () => local.succeed(subject)),
    clear: async (subject) => {
      local.clear(subject);
      await redis.del(...keys(subject));
    },
  };
  return lockout;
}

const toSeconds = (ms: number): number => (ms > 0 ? Math.ceil(ms / 1000) : 0);

interface LocalCount {
  failures: number;
  /** End of the window or of the lock, milliseconds since the epoch. */
  endsAt: number;
  isLocked: boolean;
}

/** One set of local counters per Redis connection, shared by all callers. */
const localCounts = new WeakMap<Redis, Map<string, LocalCount>>();

function localLockout(redis: Redis, config: Settings, clock: WithClock["clock"]) {
  let counts = localCounts.get(redis);
  if (!counts) localCounts.set(redis, (counts = new Map()));
  const known = counts;
  const windowMs = config.LOCKOUT_SECONDS * 1000;

  function live(subject: string): LocalCount | undefined {
    const count = known.get(subject);
    const now = clock.now();
    // A clock set back must not stretch a window (S40).
    if (count && count.endsAt > now && count.endsAt <= now + windowMs) return count;
    known.delete(subject);
    return undefined;
  }

  function remaining(subject: string): number {
    const count = live(subject);
    return count?.isLocked ? toSeconds(count.endsAt - clock.now()) : 0;
  }

  function fail(subject: string): number {
    const left = remaining(subject);
    if (left > 0) return left;
    const endsAt = clock.now() + windowMs;
    const count = live(subject) ?? { failures: 0, endsAt, isLocked: false };
    count.failures += 1;
    const isLocking = count.failures >= config.LOCKOUT_THRESHOLD;
    if (isLocking) Object.assign(count, { isLocked: true, endsAt });
    const oldest = known.keys().next();
    if (known.size >= maxLocalSubjects && !oldest.done) known.delete(oldest.value);
    known.set(subject, count);
    return isLocking ? justLocked : 0;
  }

  function succeed(subject: string): number {
    const left = remaining(subject);
    if (left === 0) known.delete(subject);
    return left;
  }

  return { remaining, fail, succeed, clear: (subject: string) => known.delete(subject) };
}
