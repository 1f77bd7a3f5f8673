import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { connectRedis } from "../../server/platform/redis/redis.ts";
import { startLocalRedis } from "../../server/runtime/stores/redis.ts";
import { atEnd, isTest } from "./shared.ts";

export interface TestRedis {
  url: string;
  /** SIGKILL; written data stays on disk. */
  kill(): Promise<void>;
  /** Restarts it with the same data and address. */
  restart(): Promise<void>;
  /** The next file gets it empty, unless a test has killed it or left a connection open. */
  release(): Promise<void>;
}

/** Emptying a server takes a twentieth of the processor time of starting one. */
const released: TestRedis[] = [];

/** A Redis without data that nobody else uses. */
export const acquireRedis = async (): Promise<TestRedis> => released.pop() ?? startRedis();

async function startRedis(): Promise<TestRedis> {
  const dir = mkdtempSync(join(tmpdir(), "ember-rd-"));
  const options = { dataDir: join(dir, "d"), socketDir: join(dir, "s"), log: silentLogger };
  let server = await startLocalRedis(options);
  let isReusable = isTest;
  const remove = async () => {
    // Nothing of it is kept; in order it would stop a tenth of a second later.
    await server.kill();
    rmSync(dir, { recursive: true, force: true });
  };
  if (isTest) atEnd(remove);
  const redis: TestRedis = {
    url: server.url,
    kill: () => {
      isReusable = false;
      return server.kill();
    },
    restart: async () => {
      isReusable = false;
      await server.stop();
      server = await startLocalRedis(options);
    },
    release: async () => {
      if (isReusable && (await isEmptied(redis.url))) released.push(redis);
      else await remove();
    },
  };
  return redis;
}

/** False if there are other connections, whose owners would write to it while the next file uses it. */
async function isEmptied(url: string): Promise<boolean> {
  const redis = connectRedis(url, silentLogger, "empty", { waitsForConnection: true });
  try {
    await redis.pipeline().flushall().config("RESETSTAT").exec();
    return (
      String(await redis.client("LIST"))
        .trim()
        .split("\n").length === 1
    );
  } finally {
    redis.disconnect();
  }
}
