import { peerPackage } from "../peers/packages.ts";
import type { OpenRoom } from "./links.ts";

interface PeerRoom {
  send(type: string): void;
  onMessage(type: string, listener: () => void): void;
  onStateChange(listener: (state: { seq: number }) => void): void;
  onLeave(listener: () => void): void;
}
interface Colyseus {
  Client: new (url: string) => {
    joinOrCreate(name: string, options: Record<string, unknown>): Promise<PeerRoom>;
  };
}

/**
 * Subscribers and commands as Colyseus clients. A patch contains only the newest state, so it delivers all
 * commands since the previous one.
 */
export const openColyseusRoom: OpenRoom = async (port, spec, callbacks) => {
  const { Client } = peerPackage("@colyseus/sdk") as Colyseus;
  const client = new Client(`ws://127.0.0.1:${port}`);
  // Sequential: the first client creates the room that the others join.
  const rooms: PeerRoom[] = [];
  for (let stream = 0; stream <= spec.streams; stream++) {
    const room = await client.joinOrCreate("lobby", { room: spec.streamPath });
    let last = 0;
    let isFirst = true;
    room.onStateChange(({ seq }) => {
      // The initial state of a client is not a delivery.
      if (isFirst) last = seq;
      isFirst = false;
      if (stream < spec.streams) while (last < seq) callbacks.onEvent(stream, ++last);
    });
    room.onMessage("accepted", () => callbacks.onAnswer(true));
    room.onLeave(callbacks.onClosed);
    rooms.push(room);
  }
  return { send: () => rooms.at(-1)?.send("command") };
};
