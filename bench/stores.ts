import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "../server/platform/log/logger.ts";
import { startLocalRedis } from "../server/runtime/stores/redis.ts";
import { starts } from "../test/support/cleanup.ts";

export interface BenchRedis {
  url: string;
  pid: number;
  stop(): Promise<void>;
}

/** A separate Redis with the service's settings; it is removed afterwards. */
export const startRedis = (): Promise<BenchRedis> => starts(makeRedis);

async function makeRedis(): Promise<BenchRedis> {
  const dir = mkdtempSync(join(tmpdir(), "ember-bench-"));
  const redis = await startLocalRedis({
    dataDir: join(dir, "d"),
    socketDir: join(dir, "s"),
    log: silentLogger,
  });
  return {
    url: redis.url,
    pid: redis.pid() ?? 0,
    stop: async () => {
      await redis.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
