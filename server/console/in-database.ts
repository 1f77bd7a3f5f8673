import { UniqueConstraintViolationException, type EntityManager } from "@mikro-orm/postgresql";
import type { Redis } from "ioredis";
import { prepareSchema } from "../../db/migrate.ts";
import { createOrm } from "../../db/orm.ts";
import {
  endChange,
  recordChange,
  type Change,
  type ChangeEnd,
} from "../features/operators/domain/operators.ts";
import { undoneOutcome } from "../features/operators/domain/undone-changes.ts";
import { startupStep } from "../runtime/boot/start-error.ts";
import { withStores } from "../runtime/boot/stores.ts";
import type { Config } from "../platform/config/config.ts";
import { noFaults, type FaultRecorder } from "../platform/faults/recorder.ts";
import { silentLogger } from "../platform/log/logger.ts";
import { connectRedis, redisReady } from "../platform/redis/redis.ts";
import { Refusal } from "./command.ts";

/** A change that is committed with its record. `target` may become known while it is made. */
export type CommittedChange = Pick<Change, "action" | "target" | "reason">;

/**
 * Runs in one transaction on the stores of the running service, or on stores started for this command. With `change` a
 * refusal, or a failure, is recorded after the rollback (OPS-90).
 */
export function inDatabase<T>(
  config: Config,
  work: (em: EntityManager) => Promise<T>,
  change?: CommittedChange,
): Promise<T> {
  return withStores(config, ({ databaseUrl }) => inTransaction(config, databaseUrl, work, change));
}

/** Dependencies of a command that also changes Redis or caches of processes. */
export interface ConsoleStores {
  em: EntityManager;
  redis: Redis;
  redisUrl: string;
  /** A command reports its failures itself. */
  faults: FaultRecorder;
  /** Runs after the commit: publishes events to other processes. */
  afterwards: (step: () => Promise<unknown>) => void;
}

/** The same with Redis. */
export function inStores<T>(
  config: Config,
  work: (stores: ConsoleStores) => Promise<T>,
  change?: CommittedChange,
): Promise<T> {
  return withStores(config, async ({ databaseUrl, redisUrl }) => {
    const redis = connectRedis(redisUrl, silentLogger, "console");
    try {
      await startupStep("REDIS_URL cannot be reached", redisReady(redis));
      const later: (() => Promise<unknown>)[] = [];
      const afterwards = (step: () => Promise<unknown>) => void later.push(step);
      const inStore = (em: EntityManager) =>
        work({ em, redis, redisUrl, faults: noFaults, afterwards });
      const result = await inTransaction(config, databaseUrl, inStore, change);
      for (const step of later) await step();
      return result;
    } finally {
      redis.disconnect();
    }
  });
}

async function inTransaction<T>(
  config: Config,
  databaseUrl: string,
  work: (em: EntityManager) => Promise<T>,
  change?: CommittedChange,
): Promise<T> {
  const orm = await createOrm({ DATABASE_URL: databaseUrl, DATABASE_POOL: 2 });
  try {
    await startupStep("the database (DATABASE_URL) cannot be prepared", prepareSchema(orm, config));
    return await orm.em
      .fork()
      .transactional(work)
      .catch(async (error: unknown) => {
        // A database that does not take the record has not taken the change either.
        if (change) await recordEnd(orm.em.fork(), change, error).catch(() => undefined);
        throw error;
      });
  } finally {
    await orm.close(true);
  }
}

const recordEnd = (em: EntityManager, change: CommittedChange, error: unknown) =>
  recordChange(em, { operator: "console", ...change, outcome: endOf(error) });

const endOf = (error: unknown) => (error instanceof Refusal ? "refused" : undoneOutcome(error));

/** Writes the audit record of a command (OPS-02). */
export function audit(
  em: EntityManager,
  action: string,
  target: string,
  more: Pick<Change, "reason" | "detail" | "numChanged"> = {},
): Promise<unknown> {
  return recordChange(em, { operator: "console", action, target, ...more });
}

/**
 * Makes a change outside Postgres: its record is written before, in a transaction of its own, and completed after it
 * (S16, OPS-54).
 */
export async function makeAudited<T>(
  em: EntityManager,
  change: Pick<Change, "action" | "target" | "reason">,
  make: () => Promise<{ result: T } & Omit<ChangeEnd, "outcome">>,
): Promise<T> {
  const own = em.fork();
  const id = await recordChange(own, { operator: "console", ...change, outcome: "started" });
  // A record whose outcome cannot be written stays started.
  const complete = (end: ChangeEnd) => endChange(own, id, end).catch(() => undefined);
  const { result, ...end } = await make().catch(async (error: unknown) => {
    await complete({ outcome: endOf(error), numChanged: null });
    throw error;
  });
  await complete({ ...end, outcome: "done" });
  return result;
}

export function refuseDuplicate(message: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof UniqueConstraintViolationException) throw new Refusal(message);
    throw error;
  };
}
