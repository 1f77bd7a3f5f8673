import { once } from "node:events";
import { connect, type Socket } from "node:net";

/**
 * A subscriber on a raw socket, which shows the HTTP chunks as written. It is strict: a chunk without its
 * trailing line break is incomplete.
 */
export interface RawStream {
  socket: Socket;
  /**
   * Everything after the headers, without chunk framing; one entry per chunk, without chunks of a single
   * empty line.
   */
  chunks: string[];
  /** Resolves once the received text contains this. */
  waitForText(text: string, timeoutMs?: number): Promise<void>;
  /** The terminating chunk has arrived, so the response ended in order. */
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
  const listeners = new Set<(text: string) => void>();
  socket.on("data", (data: string) => {
    rest += data;
    if (!hasHead) {
      const end = rest.indexOf("\r\n\r\n");
      if (end < 0) return;
      hasHead = true;
      rest = rest.slice(end + 4);
    }
    let chunk = "";
    for (let match = readSize(rest); match; match = readSize(rest)) {
      const end = match.start + match.size;
      if (rest.length < end + lineBreak.length) break;
      const text = rest.slice(match.start, end);
      if (!rest.startsWith(lineBreak, end)) return void socket.destroy();
      rest = rest.slice(end + lineBreak.length);
      if (match.size === 0) hasEnded = true;
      else if (text !== "\n") chunks.push(text);
      chunk += text;
    }
    for (const listener of listeners) listener(chunk);
  });
  return {
    socket,
    chunks,
    isEnded: () => hasEnded,
    closed: once(socket, "close"),
    waitForText(text, timeoutMs = 60_000) {
      let tail = "";
      return new Promise((resolve, reject) => {
        const timer = setTimeout(
          () => reject(new Error(`no ${text}; got ${chunks.join("|").slice(0, 500)}`)),
          timeoutMs,
        );
        // Only new data is scanned, since some streams of these tests are many megabytes long.
        const onChunk = (chunk: string) => {
          const unsearched = tail + chunk;
          tail = unsearched.slice(-text.length);
          if (!unsearched.includes(text)) return;
          clearTimeout(timer);
          listeners.delete(onChunk);
          resolve();
        };
        listeners.add(onChunk);
        onChunk(chunks.join(""));
      });
    },
  };
}

const lineBreak = "\r\n";

function readSize(text: string): { start: number; size: number } | null {
  const match = /^([0-9a-fA-F]+)\r\n/.exec(text);
  if (!match?.[1]) return null;
  return { start: match[0].length, size: Number.parseInt(match[1], 16) };
}
