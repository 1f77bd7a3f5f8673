import cluster from "node:cluster";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Redis } from "ioredis";
import { serveCalls } from "../rpc.ts";
import { peerPackage } from "./packages.ts";

/**
 * Socket.IO: a command is acknowledged and broadcast to its room. Without arguments it is one process that
 * stores nothing. With the URL of a Redis, two processes share the port, and their adapter appends every
 * broadcast to a stream in Redis that both read; the command is acknowledged before that.
 */
interface PeerSocket {
  handshake: { query: Record<string, unknown> };
  join(room: string): void;
  on(event: "command", listener: (choice: number, done: () => void) => void): void;
}
interface PeerServer {
  on(event: "connection", listener: (socket: PeerSocket) => void): void;
  to(room: string): { emit(event: "picked", seq: number, data: string): void };
}

const redisUrl = process.argv[2];
const numProcesses = 2;
const pad = "x".repeat(260);

async function serve(): Promise<number> {
  const { Server } = peerPackage("socket.io") as {
    Server: new (server: unknown, options: Record<string, unknown>) => PeerServer;
  };
  const http = createServer();
  const options = { transports: ["websocket"], serveClient: false };
  const io = new Server(
    http,
    redisUrl === undefined ? options : { ...options, adapter: adapterOf(redisUrl) },
  );
  const seqs = new Map<string, number>();
  io.on("connection", (socket) => {
    const room = String(socket.handshake.query["room"]);
    // The command connection subscribes to nothing.
    if (socket.handshake.query["listens"] === "1") socket.join(room);
    socket.on("command", (_choice, done) => {
      const seq = (seqs.get(room) ?? 0) + 1;
      seqs.set(room, seq);
      done();
      io.to(room).emit("picked", seq, pad);
    });
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  return (http.address() as AddressInfo).port;
}

function adapterOf(url: string): unknown {
  const { createAdapter } = peerPackage("@socket.io/redis-streams-adapter") as {
    createAdapter: (client: Redis) => unknown;
  };
  return createAdapter(new Redis(url));
}

/** Starts the processes that share a port, and resolves to it. */
async function shareOut(): Promise<number> {
  const ports = Array.from({ length: numProcesses }, async () => {
    const [address] = (await once(cluster.fork(), "listening")) as [AddressInfo];
    return address.port;
  });
  const [port = 0] = await Promise.all(ports);
  return port;
}

if (cluster.isPrimary) {
  const port = redisUrl === undefined ? await serve() : await shareOut();
  const calls = { port: () => port };
  serveCalls(calls);
} else await serve();
