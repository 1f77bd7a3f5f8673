import { once } from "node:events";
import {
  connect,
  createServer,
  type AddressInfo,
  type NetConnectOpts,
  type Socket,
} from "node:net";
import { TLSSocket } from "node:tls";
import { mailCertificate, mailKey } from "./mail-certificate.ts";

/** The message with which a Postgres client requests TLS. */
const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

export interface TlsFront {
  port: number;
  stop(): Promise<void>;
}

/**
 * A TLS proxy with the test certificate in front of a store without TLS. `asks`: clients request TLS first,
 * like those of Postgres.
 */
export async function startTlsFront(
  store: NetConnectOpts,
  { host = "127.0.0.1", asks = false } = {},
): Promise<TlsFront> {
  const open = new Set<Socket>();
  const serve = async (socket: Socket) => {
    open.add(socket);
    socket.on("error", () => {}).on("close", () => open.delete(socket));
    if (asks) {
      const [first] = (await once(socket, "data")) as [Buffer];
      if (!first.equals(sslRequest)) return void socket.destroy();
      socket.write("S");
    }
    const secure = new TLSSocket(socket, { isServer: true, cert: mailCertificate, key: mailKey });
    const behind = connect(store);
    for (const one of [secure, behind])
      one.on("error", () => {}).on("close", () => socket.destroy());
    secure.on("close", () => behind.destroy());
    secure.pipe(behind).pipe(secure);
  };
  const server = createServer((socket) => void serve(socket).catch(() => socket.destroy()));
  server.listen(0, host);
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
