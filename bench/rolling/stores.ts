import { chmodSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { startLocalPostgres } from "../../server/runtime/stores/postgres.ts";
import { startLocalRedis } from "../../server/runtime/stores/redis.ts";
import { atDeath } from "./at-death.ts";
import { stopsAtEnd } from "../../test/support/cleanup.ts";
import { proxyKind, startProxy } from "../../test/support/web-proxies.ts";

/** A store that can be away for a while; its data stays. */
interface Store {
  stop(): Promise<void>;
  start(): Promise<void>;
}

export interface NetworkStores {
  databaseUrl: string;
  redisUrl: string;
  postgres: Store;
  redis: Store;
  redisPid(): number;
  close(): Promise<void>;
}

/** Argument: the folder of both. They have ended already, unless this process was killed. */
const removeStores = `
for file in "$1"/p/postmaster.pid "$1"/r/redis.pid; do
  [ ! -e "$file" ] || kill -INT "$(head -n 1 "$file")"
done
for _ in 1 2 3 4 5; do
  [ -e "$1"/p/postmaster.pid ] || break
  sleep 1
done
rm -rf "$1"`;

/**
 * Postgres and Redis of their own. They listen on Unix sockets only, so HAProxy passes their bytes on from ports of
 * `address`: a host whose link is down then loses them as well.
 */
export async function startNetworkStores(address: string): Promise<NetworkStores> {
  const dir = mkdtempSync(join(tmpdir(), "ember-ro-"));
  chmodSync(dir, 0o755);
  const removal = atDeath(removeStores, dir);
  const at = (name: string) => ({ dataDir: join(dir, name), socketDir: join(dir, `${name}s`) });
  const log = silentLogger;
  const postgres = await restartable(() => startLocalPostgres({ ...at("p"), log, fsync: false }));
  const redis = await restartable(() => startLocalRedis({ ...at("r"), log }));
  const sockets = [
    ["postgres", 5432, join(dir, "ps", ".s.PGSQL.5432")],
    ["redis", 6379, join(dir, "rs", "redis.sock")],
  ] as const;
  const relay = await startProxy(
    proxyKind("HAProxy"),
    () => `defaults
      mode tcp
      timeout connect 5s
      timeout client 1h
      timeout server 1h
      ${sockets.map(([name, port, path]) => `listen ${name}\n bind ${address}:${port}\n server ${name} unix@${path}`).join("\n")}`,
    { host: address, port: 6379 },
  );
  const close = stopsAtEnd(async () => {
    await relay.stop();
    await Promise.all([redis.stop(), postgres.stop()]);
    await removal.now();
  });
  return {
    databaseUrl: `postgres://emberline@${address}:5432/emberline`,
    redisUrl: `redis://${address}:6379`,
    ...{ postgres, redis, close },
    redisPid: () => Number(readFileSync(join(dir, "r", "redis.pid"), "utf8")),
  };
}

async function restartable(start: () => Promise<{ stop(): Promise<void> }>): Promise<Store> {
  let running: { stop(): Promise<void> } | null = await start();
  return {
    async stop() {
      await running?.stop();
      running = null;
    },
    async start() {
      running ??= await start();
    },
  };
}
