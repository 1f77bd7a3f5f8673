import type { OpenRoom } from "./links.ts";

/** Packets of the Socket.IO protocol (revision 5) that the benchmark needs, as text frames. */
const packets = { ping: "2", pong: "3", connect: "40", ack: "43", event: "42" } as const;

/** Subscribers and commands as Socket.IO clients over WebSocket; the ack of a command is its response. */
export const openSocketIoRoom: OpenRoom = async (port, spec, callbacks) => {
  const query = spec.streamPath.replace(/^.*\?/, "&");
  const subscribe = (stream: number) =>
    openSocket(port, `${query}&listens=1`, callbacks.onClosed, (text) => {
      const seq = /^42\["picked",(\d+),/.exec(text)?.[1];
      if (seq !== undefined) callbacks.onEvent(stream, Number(seq));
    });
  await Promise.all(Array.from({ length: spec.streams }, (_, n) => subscribe(n)));
  const commands = await openSocket(port, query, callbacks.onClosed, (text) => {
    if (text.startsWith(packets.ack)) callbacks.onAnswer(true);
  });
  let count = 0;
  return { send: () => commands.send(`${packets.event}${count++}["command",1]`) };
};

/** Resolves once the server has accepted the connection. */
function openSocket(
  port: number,
  query: string,
  onClosed: () => void,
  onPacket: (text: string) => void,
): Promise<WebSocket> {
  const url = `ws://127.0.0.1:${port}/socket.io/?EIO=4&transport=websocket${query}`;
  const socket = new WebSocket(url);
  return new Promise((resolve, reject) => {
    socket.addEventListener("open", () => socket.send(packets.connect));
    socket.addEventListener("error", () => reject(new Error("no Socket.IO connection")));
    socket.addEventListener("close", onClosed);
    socket.addEventListener("message", ({ data }) => {
      const text = String(data);
      if (text === packets.ping) socket.send(packets.pong);
      else if (text.startsWith(packets.connect)) resolve(socket);
      else onPacket(text);
    });
  });
}
