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
import { startupStep } from "../runtime/boot/start-error.ts";
import { withStores } from "../runtime/boot/stores.ts";
import type { Config } from "../platform/config/config.ts";
import { silentLogger } from "../platform/log/logger.ts";
import { connectRedis, redisReady } from "../platform/redis/redis.ts";
import { Refusal } from "./command.ts";

/** Runs in one transaction on the stores of the running service, or on stores started for this command. */
export function inDatabase<T>(config: Config, work: (em: EntityManager) => Promise<T>): Promise<T> {
  return withStores(config, ({ databaseUrl }) => inTransaction(config, databaseUrl, work));
}

/** Dependencies of a command that also changes Redis or caches of processes. */
export interface ConsoleStores {
  em: EntityManager;
  redis: Redis;
  redisUrl: string;
  /** Runs after the commit: publishes events to other processes. */
  afterwards: (step: () => Promise<unknown>) => void;
}

/** The same with Redis. */
export function inStores<T>(
  config: Config,
  work: (stores: ConsoleStores) => Promise<T>,
): Promise<T> {
  return withStores(config, async ({ databaseUrl, redisUrl }) => {
    const redis = connectRedis(redisUrl, silentLogger, "console");
    try {
      await startupStep("REDIS_URL cannot be reached", redisReady(redis));
      const later: (() => Promise<unknown>)[] = [];
      const afterwards = (step: () => Promise<unknown>) => void later.push(step);
      const result = await inTransaction(config, databaseUrl, (em) =>
        work({ em, redis, redisUrl, afterwards }),
      );
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
): Promise<T> {
  const orm = await createOrm({ DATABASE_URL: databaseUrl, DATABASE_POOL: 2 });
  try {
    await startupStep("the database (DATABASE_URL) cannot be prepared", prepareSchema(orm, config));
    return await orm.em.fork().transactional(work);
  } finally {
    await orm.close(true);
  }
}

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
    const outcome = error instanceof Refusal ? "refused" : "failed";
    await complete({ outcome, numChanged: null });
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
