import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";

/**
 * A port of 127.0.0.1 that is free now: for servers whose address has to be known before they listen, and for
 * those that share one, which a port chosen at `listen` cannot be.
 */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
