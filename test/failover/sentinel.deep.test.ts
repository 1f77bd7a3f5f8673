import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { connectRedis, redisReady } from "../../server/platform/redis/redis.ts";
import { cacheFolder } from "../../server/runtime/stores/cache-folder.ts";
import { findRedisProgram } from "../../server/runtime/stores/redis-program.ts";
import { freePort } from "../support/free-port.ts";
import { failToStart, serviceEnv } from "../support/process.ts";
import { testDatabase } from "../support/stores.ts";

describe("a service whose REDIS_URL leads to a Sentinel", () => {
  let dir: string;
  let port: number;
  let sentinel: ChildProcess;
  let database: Awaited<ReturnType<typeof testDatabase>>;

  before(async () => {
    dir = mkdtempSync(join(tmpdir(), "ember-sentinel-"));
    port = await freePort();
    database = await testDatabase();
    const { command, env } = await findRedisProgram(cacheFolder("", dir), silentLogger);
    const file = join(dir, "sentinel.conf");
    writeFileSync(file, `port ${port}\nbind 127.0.0.1\ndir ${dir}\n`);
    const options = { cwd: dir, stdio: "ignore", ...(env ? { env } : {}) } as const;
    sentinel = spawn(command, [file, "--sentinel"], options);
    const redis = connectRedis(`redis://127.0.0.1:${port}`, silentLogger, "test");
    await redisReady(redis);
    redis.disconnect();
  });
  after(async () => {
    sentinel.kill("SIGKILL");
    await once(sentinel, "exit");
    await database.drop();
    rmSync(dir, { recursive: true, force: true });
  });

  it("does not start, and says in one line what to use instead", async () => {
    const REDIS_URL = `redis://127.0.0.1:${port}`;
    const env = serviceEnv(join(dir, "data"), { DATABASE_URL: database.url, REDIS_URL });
    const { code, output } = await failToStart(env);
    assert.equal(code, 1);
    assert.match(output, /^REDIS_URL leads to a Redis Sentinel, .+ follows the master.+\n$/);
  });
});
