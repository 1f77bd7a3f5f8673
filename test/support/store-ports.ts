import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server } from "node:net";
import { join } from "node:path";
import { parseDatabaseUrl } from "../../server/platform/postgres/database-url.ts";
import type { TestStores } from "./stores.ts";

/** A local port that forwards to a socket only its owner can reach. */
async function portTo(socket: string): Promise<{ server: Server; port: number }> {
  const server = createServer((client) => {
    const store = connect(socket);
    client.pipe(store).pipe(client);
    for (const side of [client, store]) side.on("error", () => client.destroy() && store.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, port: (server.address() as AddressInfo).port };
}

/** Addresses of the stores for a process of another user, who cannot reach their sockets. */
export async function openStores({ databaseUrl, redisUrl }: TestStores) {
  const { host, port, user, database } = parseDatabaseUrl(databaseUrl);
  const postgres = await portTo(join(host, `.s.PGSQL.${port}`));
  const redis = await portTo(redisUrl.replace("unix://", ""));
  return {
    servers: [postgres.server, redis.server],
    urls: {
      DATABASE_URL: `postgres://${user}@127.0.0.1:${postgres.port}/${database}`,
      REDIS_URL: `redis://127.0.0.1:${redis.port}`,
    },
  };
}
