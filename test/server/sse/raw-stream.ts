import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** A subscriber on a bare socket, which shows the HTTP chunks as the server wrote them. */
export interface RawStream {
  socket: Socket;
  /** Everything after the header block, without chunk framing; one entry per chunk. */
  chunks: string[];
  /** Resolves once the received text contains this. */
  waitForText(text: string, timeoutMs?: number): Promise<void>;
  /** The terminating chunk has come: the response was ended in order. */
  isEnded(): boolean;
  closed: Promise<unknown>;
}

export async function openRaw(url: string): Promise<RawStream> {
  const { hostname, port, pathname, search, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  socket.on("error", () => undefined);
  socket.setEncoding("latin1");
  socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  let rest = "";
  let hasHead = false;
  let hasEnded = false;
  const chunks: string[] = [];
  let received = "";
  const listeners = new Set<() => void>();
  socket.on("data", (data: string) => {
    rest += data;
    if (!hasHead) {
      const end = rest.indexOf("\r\n\r\n");
      if (end < 0) return;
      hasHead = true;
      rest = rest.slice(end + 4);
    }
    for (let match = readSize(rest); match; match = readSize(rest)) {
      if (rest.length < match.start + match.size) break;
      const text = rest.slice(match.start, match.start + match.size);
      rest = rest.slice(match.start + match.size);
      if (match.size === 0) hasEnded = true;
      else chunks.push(text);
      received += text;
    }
    for (const listener of listeners) listener();
  });
  return {
    socket,
    chunks,
    isEnded: () => hasEnded,
    closed: once(socket, "close"),
    waitForText(text, timeoutMs = 20_000) {
      let from = 0;
      return new Promise((resolve, reject) => {
        const timer = setTimeout(
          () => reject(new Error(`no ${text}; got ${chunks.join("|").slice(0, 500)}`)),
          timeoutMs,
        );
        const look = () => {
          const isThere = received.includes(text, from);
          from = Math.max(0, received.length - text.length);
          if (!isThere) return;
          clearTimeout(timer);
          listeners.delete(look);
          resolve();
        };
        listeners.add(look);
        look();
      });
    },
  };
}

/** uWebSockets sends the line break that ends a chunk together with the next one. */
function readSize(text: string): { start: number; size: number } | null {
  const match = /^(?:\r\n)?([0-9a-fA-F]+)\r\n/.exec(text);
  if (!match?.[1]) return null;
  return { start: match[0].length, size: Number.parseInt(match[1], 16) };
}
