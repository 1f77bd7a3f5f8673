import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { within } from "../load/deadline.ts";
import { ask, openSocket } from "../raw-request.ts";
import type { OpenRoom, RoomCallbacks, RoomSpec } from "./links.ts";

const headEnd = "\r\n\r\n";
const openAtOnce = 8;
const openMs = 10_000;

/** Commands as HTTP requests over one keep-alive connection, events as server-sent events. */
export const openHttpRoom: OpenRoom = async (port, spec, callbacks) => {
  for (let n = 0; n < spec.streams; n += openAtOnce) {
    const length = Math.min(openAtOnce, spec.streams - n);
    await Promise.all(Array.from({ length }, (_, at) => openStream(port, spec, n + at, callbacks)));
  }
  return openCommands(port, spec.command, callbacks);
};

/** Resolves when it has its first bytes of the body, from which on it follows the room. */
async function openStream(
  port: number,
  { streamPath, streamHeaders, numberOpening = "\nid: " }: RoomSpec,
  stream: number,
  { onEvent, onClosed }: RoomCallbacks,
): Promise<void> {
  const socket = connect(port, "127.0.0.1").setNoDelay(true).setEncoding("latin1");
  const request = `GET ${streamPath} HTTP/1.1\r\nHost: bench\r\n${streamHeaders}`;
  socket.write(`${request}Accept: text/event-stream\r\n\r\n`);
  let head = "";
  while (!/\r\n\r\n[^]/.test(head)) {
    const [chunk] = (await within(openMs, "a stream", once(socket, "data"))) as [string];
    head += chunk;
  }
  if (!head.startsWith("HTTP/1.1 200")) throw new Error(`stream refused: ${head.slice(0, 300)}`);
  let rest = "";
  const read = (text: string) => {
    rest = readNumbers(rest + text, numberOpening, (seq) => onEvent(stream, seq));
  };
  read(head.slice(head.indexOf(headEnd)));
  socket.on("data", read);
  socket.on("close", onClosed);
  socket.on("error", () => undefined);
}

/** Calls `onNumber` for every number behind the opening, and returns the incomplete rest. */
function readNumbers(text: string, opening: string, onNumber: (n: number) => void): string {
  let from = 0;
  for (;;) {
    const at = text.indexOf(opening, from);
    if (at < 0) return text.slice(Math.max(from, text.length - opening.length + 1));
    let end = at + opening.length;
    while (isDigit(text.charCodeAt(end))) end++;
    if (end === text.length) return text.slice(at);
    onNumber(Number(text.slice(at + opening.length, end)));
    from = end;
  }
}

const isDigit = (code: number) => code >= 48 && code <= 57;

/**
 * One request at a time; others queue in the client and are measured from their intended time. A server may close the
 * connection while the other servers have their turns.
 */
async function openCommands(port: number, command: string, { onAnswer, onClosed }: RoomCallbacks) {
  let isAsking = false;
  const open = async () => {
    const opened = await openSocket(`http://127.0.0.1:${port}`);
    const onClose = () => socket === opened && isAsking && onClosed();
    return opened.on("error", () => undefined).on("close", onClose);
  };
  let socket: Socket = await open();
  let last = Promise.resolve();
  let sent = 0;
  const askNext = async () => {
    const request = command.replace(commandNumber, () => numberText(++sent));
    let status = "";
    try {
      if (!socket.writable) socket = await open();
      isAsking = true;
      status = await ask(socket, request);
    } catch {
      // Counted as refused.
    }
    isAsking = false;
    onAnswer(status.startsWith("2"));
  };
  return { send: () => void (last = last.then(askNext)) };
}

/** In a command: the number of the command in its room, of constant length, so that the head stays the same. */
export const commandNumber = "{number}";
const numberText = (n: number) => String(n).padStart(commandNumber.length, "0");
