import { readdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Config } from "../../platform/config/config.ts";
import { silentLogger, type Logger } from "../../platform/log/logger.ts";
import { cacheFolder } from "../stores/cache-folder.ts";
import { localDatabaseUrl, startLocalPostgres } from "../stores/postgres.ts";
import { localRedisUrl, startLocalRedis } from "../stores/redis.ts";
import { removeLinkDir, runningSocketDir, socketDirFor } from "../stores/sockets.ts";
import { acquireExclusive } from "./lock.ts";
import { onStopSignals, raceAbort } from "./signals.ts";
import { StartError } from "./start-error.ts";
import type { StopBudget } from "./stop-budget.ts";

export interface RunningStores {
  databaseUrl: string;
  redisUrl: string;
  /** True for stores that were started here. */
  isLocal: { postgres: boolean; redis: boolean };
  /** Stops Redis, then Postgres, after everything else; each has its own limit without a budget. */
  stop(budget?: StopBudget): Promise<void>;
}

interface Store {
  url: string;
  stop(limitMs?: number): Promise<void>;
}

/** Starts the stores without a configured address (BOOT-01); if one fails, the others stop. */
export async function startStores(config: Config, log: Logger): Promise<RunningStores> {
  const dataDir = resolve(config.DATA_DIR);
  const isLocal = { postgres: config.DATABASE_URL === "", redis: config.REDIS_URL === "" };
  const socketDir = isLocal.postgres || isLocal.redis ? emptySocketDir(dataDir) : "";
  const [postgres, redis] = await Promise.allSettled([
    isLocal.postgres
      ? startLocalPostgres({
          dataDir: join(dataDir, "postgres"),
          socketDir: join(socketDir, "p"),
          log,
        })
      : given(config.DATABASE_URL),
    isLocal.redis
      ? startLocalRedis({
          dataDir: join(dataDir, "redis"),
          cacheDir: cacheFolder(config.CACHE_DIR, dataDir),
          socketDir: join(socketDir, "r"),
          log,
        })
      : given(config.REDIS_URL),
  ]);
  const stop = async (budget?: StopBudget) => {
    if (redis.status === "fulfilled") await redis.value.stop(budget?.leftMs("redis"));
    if (postgres.status === "fulfilled") await postgres.value.stop(budget?.leftMs("postgres"));
    removeLinkDir(dataDir);
    if (socketDir !== "") rmSync(socketDir, { recursive: true, force: true });
  };
  if (postgres.status === "fulfilled" && redis.status === "fulfilled")
    return { databaseUrl: postgres.value.url, redisUrl: redis.value.url, isLocal, stop };
  await stop();
  const failed = postgres.status === "rejected" ? postgres : redis;
  throw asStartError(failed.status === "rejected" ? failed.reason : null);
}

/** A stop signal interrupted a command. */
export class Interrupted extends Error {}

/**
 * Runs work on the stores of the running service, else on stores started for it alone (BOOT-03). A stop
 * signal ends the work and the stores started for it; with `cancel` the first signal asks the work to end
 * itself.
 */
export async function withStores<T>(
  config: Config,
  work: (stores: RunningStores) => Promise<T>,
  cancel?: () => void,
): Promise<T> {
  const interruption = new AbortController();
  const interrupt = () => interruption.abort(new Interrupted("interrupted"));
  const signals = onStopSignals({ first: cancel ?? interrupt, again: interrupt });
  try {
    const stores = await borrowStores(config, silentLogger);
    try {
      interruption.signal.throwIfAborted();
      return await raceAbort(interruption.signal, work(stores));
    } finally {
      await stores.stop();
    }
  } finally {
    signals.stop();
  }
}

async function borrowStores(config: Config, log: Logger): Promise<RunningStores> {
  const { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl } = config;
  // Nothing is started, so nothing is locked: DATA_DIR may be a folder that cannot be written.
  if (databaseUrl !== "" && redisUrl !== "") return { databaseUrl, redisUrl, ...external };
  const lock = acquireExclusive(config.DATA_DIR);
  if ("release" in lock) {
    const stores = await startStores(config, log).catch((error: unknown) => {
      lock.release();
      throw error;
    });
    const stop = async () => {
      await stores.stop();
      lock.release();
    };
    return { ...stores, stop };
  }
  const socketDir = runningSocketDir(resolve(config.DATA_DIR));
  return {
    databaseUrl: databaseUrl || localDatabaseUrl(join(socketDir, "p")),
    redisUrl: redisUrl || localRedisUrl(join(socketDir, "r")),
    ...external,
  };
}

/** Stores of others, which outlive the command. */
const external = { isLocal: { postgres: false, redis: false }, stop: async () => {} };

/**
 * We hold the lock of the data folder, so the contents belonged to a killed service. Postgres would refuse
 * its old socket lock as long as the pid in it exists, even as a zombie.
 */
function emptySocketDir(dataDir: string): string {
  try {
    const dir = socketDirFor(dataDir);
    for (const name of readdirSync(dir)) rmSync(join(dir, name), { recursive: true, force: true });
    return dir;
  } catch (error) {
    throw asStartError(error);
  }
}

const asStartError = (error: unknown): StartError =>
  new StartError(error instanceof Error ? error.message : String(error));

async function given(url: string): Promise<Store> {
  return { url, stop: async () => {} };
}
