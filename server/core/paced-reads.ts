import {
  connect as connectSocket,
  type OnReadOpts,
  type Socket,
  type NetConnectOpts,
} from "node:net";
import { connect as connectTls, type ConnectionOptions } from "node:tls";
import { AbstractConnector, type RedisOptions } from "ioredis";

type Connector = NonNullable<RedisOptions["Connector"]>;

const readBytes = 64 * 1024;

/**
 * Connections to Redis that are read in gulps: after each read `pauseMs` says for how long the next one waits,
 * and what comes meanwhile is handed over together. Waking up for each message costs a process that is idle in
 * between more than the message does.
 */
export function pacedConnector(pauseMs: () => number): Connector {
  return class extends AbstractConnector {
    private readonly options: RedisOptions;

    constructor(options: unknown) {
      const given = options as RedisOptions;
      super(given.disconnectTimeout ?? 0);
      this.options = given;
    }

    async connect(): Promise<Socket> {
      this.connecting = true;
      await new Promise((resolve) => process.nextTick(resolve));
      if (!this.connecting) throw new Error("Connection is closed.");
      const socket = openPaced(this.options, pauseMs);
      socket.once("error", (error) => (this.firstError = error));
      this.stream = socket;
      return socket;
    }
  };
}

function openPaced({ path, host, port, family, tls }: RedisOptions, pauseMs: () => number): Socket {
  let isPaused = false;
  const goOn = () => {
    isPaused = false;
    socket.resume();
  };
  const onread: OnReadOpts = {
    buffer: Buffer.allocUnsafe(readBytes),
    callback(length, buffer) {
      // The buffer is used again, and the parser keeps what is not complete yet.
      socket.emit("data", Buffer.from(buffer.subarray(0, length)));
      const pause = pauseMs();
      // What TLS has decrypted already still comes while reading waits.
      if (isPaused || pause < 1) return !isPaused;
      isPaused = true;
      setTimeout(goOn, pause);
      return false;
    },
  };
  const target = path ? { path } : { host, port, family };
  const socket: Socket = tls
    ? connectTls({ ...target, ...tls, onread } as ConnectionOptions & { onread: OnReadOpts })
    : connectSocket({ ...target, onread } as NetConnectOpts);
  return socket;
}
