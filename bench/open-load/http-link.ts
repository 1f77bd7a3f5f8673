import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { readIds } from "../streams/mark.ts";
import type { OpenRoom, RoomCallbacks, RoomSpec } from "./links.ts";

const headEnd = "\r\n\r\n";

/** Commands as HTTP requests over one keep-alive connection, events as server-sent events. */
export const openHttpRoom: OpenRoom = async (port, spec, callbacks) => {
  const streams: Socket[] = [];
  for (let n = 0; n < spec.streams; n++) streams.push(await openStream(port, spec, n, callbacks));
  const commands = await openCommands(port, spec.command, callbacks);
  return {
    send: commands.send,
    close() {
      for (const socket of [...streams, commands.socket]) socket.removeAllListeners().destroy();
    },
  };
};

/** Resolves at the first bytes of the body, from which on the stream follows its room. */
async function openStream(
  port: number,
  { streamPath, streamHeaders }: RoomSpec,
  stream: number,
  { onEvent, onClosed }: RoomCallbacks,
): Promise<Socket> {
  const socket = connect(port, "127.0.0.1").setNoDelay(true).setEncoding("latin1");
  const request = `GET ${streamPath} HTTP/1.1\r\nHost: bench\r\n${streamHeaders}`;
  socket.write(`${request}Accept: text/event-stream\r\n\r\n`);
  let head = "";
  while (!/\r\n\r\n[^]/.test(head)) {
    const [chunk] = (await once(socket, "data")) as [string];
    head += chunk;
  }
  if (!head.startsWith("HTTP/1.1 200")) throw new Error(`stream refused: ${head.slice(0, 300)}`);
  let rest = readIds(head.slice(head.indexOf(headEnd)), (seq) => onEvent(stream, seq));
  socket.on("data", (text: string) => {
    rest = readIds(rest + text, (seq) => onEvent(stream, seq));
  });
  socket.on("close", onClosed);
  socket.on("error", () => undefined);
  return socket;
}

/** One request at a time; others queue in the client and are measured from their intended time. */
async function openCommands(port: number, command: string, { onAnswer, onClosed }: RoomCallbacks) {
  const socket = connect(port, "127.0.0.1").setNoDelay(true).setEncoding("latin1");
  await once(socket, "connect");
  let waiting = 0;
  let text = "";
  socket.on("data", (chunk: string) => {
    text += chunk;
    const end = text.indexOf(headEnd);
    if (end < 0) return;
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(text.slice(0, end))?.[1] ?? 0);
    if (text.length < end + headEnd.length + length) return;
    const isOk = text.startsWith("2", "HTTP/1.1 ".length);
    text = text.slice(end + headEnd.length + length);
    waiting -= 1;
    if (waiting > 0) socket.write(command);
    onAnswer(isOk);
  });
  socket.on("error", () => undefined);
  socket.on("close", () => {
    onClosed();
    for (; waiting > 0; waiting--) onAnswer(false);
  });
  const send = () => {
    if (socket.destroyed) return onAnswer(false);
    waiting += 1;
    if (waiting === 1) socket.write(command);
  };
  return { socket, send };
}
