import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { serveCalls } from "../rpc.ts";
import { peerPackage } from "./packages.ts";

/**
 * Colyseus in one process, as in its tutorial: a command changes the state of its room, and every 50 ms the
 * clients receive a patch of the changes. Nothing is stored.
 */
interface PeerRoom {
  state: Record<string, unknown>;
  autoDispose: boolean;
  onMessage(type: string, listener: (client: { send(type: string): void }) => void): void;
}
interface Colyseus {
  Server: new (options: Record<string, unknown>) => {
    define(name: string, room: unknown): { filterBy(keys: string[]): unknown };
    listen(port: number, host: string): Promise<unknown>;
  };
  Room: new () => PeerRoom;
}
const { Server, Room } = peerPackage("@colyseus/core") as Colyseus;
const { WebSocketTransport } = peerPackage("@colyseus/ws-transport") as {
  WebSocketTransport: new (options: Record<string, unknown>) => unknown;
};
const { schema, t } = peerPackage("@colyseus/schema") as {
  schema(fields: Record<string, unknown>, name: string): new () => Record<string, unknown>;
  t: { number(): unknown; string(): unknown };
};

const State = schema({ seq: t.number(), data: t.string() }, "State");

class LobbyRoom extends Room {
  onCreate(): void {
    const state = new State();
    state["seq"] = 0;
    state["data"] = "";
    this.state = state;
    this.onMessage("command", (client) => {
      const seq = Number(state["seq"]) + 1;
      state["seq"] = seq;
      state["data"] = `${seq} ${"x".repeat(250)}`;
      client.send("accepted");
    });
  }
}

const server = createServer();
const app = new Server({ transport: new WebSocketTransport({ server }), greet: false });
app.define("lobby", LobbyRoom).filterBy(["room"]);
await app.listen(0, "127.0.0.1");
const calls = { port: () => (server.address() as AddressInfo).port };
serveCalls(calls);
