import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { serveCalls } from "../rpc.ts";
import { peerPackage } from "./packages.ts";

/**
 * Socket.IO in one process: a command is acknowledged and broadcast to its room. Nothing is stored, so no
 * event survives the process.
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
const { Server } = peerPackage("socket.io") as {
  Server: new (server: unknown, options: Record<string, unknown>) => PeerServer;
};

const http = createServer();
const io = new Server(http, { transports: ["websocket"], serveClient: false });
const seqs = new Map<string, number>();
const pad = "x".repeat(260);
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
await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
const calls = { port: () => (http.address() as AddressInfo).port };
serveCalls(calls);
