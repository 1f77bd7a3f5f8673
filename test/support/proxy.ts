import { once } from "node:events";
import {
  connect,
  createServer,
  type AddressInfo,
  type NetConnectOpts,
  type Socket,
} from "node:net";

/** A proxy in front of a store that can be cut or silenced. */
export interface Proxy {
  port: number;
  /** Closes every connection. */
  cut(): void;
  /** Nothing passes any more on existing connections, and neither side notices. */
  silence(): void;
  /** Holds responses back from the first request with this text on; resolves at that request. */
  holdAnswers(to: string): Promise<void>;
  /** Releases responses, first those held back. */
  release(): void;
  stop(): Promise<void>;
}

export async function startProxy(store: NetConnectOpts): Promise<Proxy> {
  const open = new Set<Socket>();
  const silent = new Set<Socket>();
  let held: (() => void)[] = [];
  let isHolding = false;
  let awaited: { text: string; seen: () => void } | null = null;
  const server = createServer((client) => {
    const behind = connect(store);
    for (const socket of [client, behind]) {
      open.add(socket);
      socket
        .on("error", () => {})
        .on("close", () => {
          open.delete(socket);
          client.destroy();
          behind.destroy();
        });
    }
    client.on("data", (bytes) => {
      if (awaited && bytes.includes(awaited.text)) {
        isHolding = true;
        awaited.seen();
        awaited = null;
      }
      if (!silent.has(client)) behind.write(bytes);
    });
    behind.on("data", (bytes) => {
      if (isHolding) held.push(() => client.write(bytes));
      else if (!silent.has(behind)) client.write(bytes);
    });
  });
  const cut = () => open.forEach((socket) => socket.destroy());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    silence: () => open.forEach((socket) => silent.add(socket)),
    holdAnswers: (text) => new Promise((resolve) => (awaited = { text, seen: resolve })),
    release: () => {
      isHolding = false;
      const all = held;
      held = [];
      for (const one of all) one();
    },
    stop: async () => {
      server.close();
      cut();
      await once(server, "close");
    },
  };
}
