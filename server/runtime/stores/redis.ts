import { renameSync } from "node:fs";
import { join, resolve } from "node:path";
import { Redis } from "ioredis";
import { connectRedis } from "../../platform/redis/redis.ts";
import { parseRedisInfo } from "../../platform/redis/redis-info.ts";
import { silentLogger, type Logger } from "../../platform/log/logger.ts";
import { cacheFolder } from "./cache-folder.ts";
import { StartError } from "../boot/start-error.ts";
import { startDaemon } from "./daemon.ts";
import { stopOrphan } from "./orphans.ts";
import { makeOwnFolder } from "./own-folder.ts";
import { RedisHistory } from "./redis-history.ts";
import { findRedisProgram } from "./redis-program.ts";

export interface LocalRedisOptions {
  dataDir: string;
  /** Folder for an unpacked Redis program if the machine has none; default: a folder of the user. */
  cacheDir?: string;
  /** A private folder with a short path; see `socketDirFor`. */
  socketDir: string;
  log: Logger;
}

export interface LocalRedis {
  /** `unix://<path>`, for `connectRedis`. */
  url: string;
  pid(): number | null;
  /** Killed after `limitMs`. */
  stop(limitMs?: number): Promise<void>;
  /** Sends SIGKILL; the data folder stays for the next start. */
  kill(): Promise<void>;
}

/**
 * Starts redis-server (or valkey-server) on a Unix socket only, with an append-only file and without
 * eviction, because rooms and jobs are stored in it (BOOT-01). Ends a server that outlived a killed
 * parent.
 */
export async function startLocalRedis(options: LocalRedisOptions): Promise<LocalRedis> {
  const dataDir = resolve(options.dataDir);
  const cacheDir = options.cacheDir ?? cacheFolder("", dataDir);
  makeOwnFolder(dataDir, { mode: 0o700 });
  makeOwnFolder(options.socketDir, { mode: 0o700 });
  const program = await findRedisProgram(cacheDir, options.log);
  const socket = socketIn(options.socketDir);
  // Clients find no socket before the replication id is recorded, because earlier reads could be incomplete.
  const startSocket = join(options.socketDir, "redis.new");
  const pidFile = join(dataDir, "redis.pid");
  const history = new RedisHistory(dataDir);
  const daemon = await startDaemon({
    name: "Redis",
    command: program.command,
    args: serverArguments(dataDir, startSocket, pidFile),
    spawn: { cwd: dataDir, env: program.env },
    async prepare() {
      await stopOrphan(pidFile, /(redis|valkey)-server/, "SIGTERM");
      history.takeMarker();
    },
    async isReady() {
      if (!(await answers(startSocket, history))) return false;
      renameSync(startSocket, socket);
      return true;
    },
    stopSignal: "SIGTERM",
    log: options.log,
  });
  return {
    url: localRedisUrl(options.socketDir),
    pid: () => daemon.pid(),
    async stop(limitMs) {
      if (await daemon.stop(limitMs)) history.close();
    },
    kill: () => daemon.kill(),
  };
}

/** Address of an already running Redis. */
export function localRedisUrl(socketDir: string): string {
  return `unix://${socketIn(socketDir)}`;
}

function socketIn(socketDir: string): string {
  return join(socketDir, "redis.sock");
}

function serverArguments(dataDir: string, socket: string, pidFile: string): string[] {
  const settings: Record<string, string> = {
    port: "0",
    unixsocket: socket,
    unixsocketperm: "700",
    pidfile: pidFile,
    dir: dataDir,
    daemonize: "no",
    appendonly: "yes",
    appendfsync: "everysec",
    save: "",
    "maxmemory-policy": "noeviction",
    loglevel: "warning",
  };
  return Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
}

async function answers(socket: string, history: RedisHistory): Promise<boolean> {
  // The client's own ready check waits a whole second while the server loads its file.
  const options = { retryStrategy: () => null, lazyConnect: true, enableReadyCheck: false };
  const redis = new Redis({ path: socket, ...options });
  redis.on("error", () => {});
  try {
    await redis.connect();
    if ((await redis.ping()) !== "PONG") return false;
    await history.markIntact(redis);
    return true;
  } finally {
    redis.disconnect();
  }
}

const sentinel =
  "REDIS_URL leads to a Redis Sentinel, which only names the master: give an address that follows the master, such as that of HAProxy with a check of its role, or use a Redis Cluster (redis+cluster://)";

const replica =
  "REDIS_URL leads to a replica, which refuses writes: give an address that leads to the master";

/** The client says only that it asked all nodes of a cluster; the answer of the last one names the reason. */
const causeOf = (error: Error & { lastNodeError?: Error }): Error =>
  error.lastNodeError === undefined
    ? error
    : new Error(`no node of the cluster names its slots: ${error.lastNodeError.message}`);

/** Describes a persistence problem of an external Redis in one line; null without one. Throws for a Sentinel or a replica. */
export async function checkRedisPersistence(url: string): Promise<string | null> {
  const redis = connectRedis(url, silentLogger, "check");
  try {
    await new Promise<void>((done, fail) =>
      redis.once("ready", done).once("error", (error: Error) => fail(causeOf(error))),
    );
    const server = parseRedisInfo(await redis.info("server"));
    if (server.get("redis_mode") === "sentinel") throw new StartError(sentinel);
    const replication = parseRedisInfo(await redis.info("replication"));
    if (replication.get("slave_read_only") === "1") throw new StartError(replica);
    const memory = parseRedisInfo(await redis.info("memory"));
    const persistence = parseRedisInfo(await redis.info("persistence"));
    const policy = memory.get("maxmemory_policy") ?? "unknown";
    const problems = [
      persistence.get("aof_enabled") === "1"
        ? null
        : "has no append-only file: a restart loses rooms and jobs",
      policy === "noeviction"
        ? null
        : `evicts keys (maxmemory-policy ${policy}): rooms and jobs may vanish`,
    ].filter((problem) => problem !== null);
    return problems.length === 0 ? null : `REDIS_URL ${problems.join("; ")}`;
  } finally {
    redis.disconnect();
  }
}
