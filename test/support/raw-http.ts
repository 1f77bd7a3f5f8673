import { connect } from "node:net";

export interface RawResponse {
  status: number;
  /** Names in lower case, repeated ones as received. */
  headers: [name: string, value: string][];
  body: string;
}

export interface RawExchange {
  responses: RawResponse[];
  /** Everything the server sent. */
  text: string;
  /** Which side closed the connection: the server, or we after silence. */
  isClosedByServer: boolean;
}

/**
 * Sends bytes on a new connection and reads until the server closes it, `responses` complete responses have
 * arrived, or `waitMs` have passed. With `quietMs` it also stops after that much silence following received
 * data, however long the first response took within `waitMs`.
 */
export function sendRaw(
  port: number,
  bytes: string | Uint8Array,
  options: { responses?: number; waitMs?: number; quietMs?: number; isHead?: boolean } = {},
): Promise<RawExchange> {
  const { responses = Number.POSITIVE_INFINITY, quietMs, isHead = false } = options;
  const { waitMs = 30_000 } = options;
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    const finish = (isClosedByServer: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      const text = Buffer.concat(chunks).toString("latin1");
      resolve({ responses: parseResponses(text, isHead), text, isClosedByServer });
    };
    let timer = setTimeout(() => finish(false), waitMs);
    socket.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      if (quietMs !== undefined) {
        clearTimeout(timer);
        timer = setTimeout(() => finish(false), quietMs);
      }
      if (parseResponses(Buffer.concat(chunks).toString("latin1"), isHead).length >= responses)
        finish(false);
    });
    // A reset also counts as a close; data received before still counts.
    socket.on("error", () => finish(true));
    socket.on("close", () => finish(true));
  });
}

/** The complete responses at the start of `text` that have a Content-Length or no body. */
export function parseResponses(text: string, isHead = false): RawResponse[] {
  const found: RawResponse[] = [];
  let rest = text;
  while (rest.startsWith("HTTP/1.1 ")) {
    const end = rest.indexOf("\r\n\r\n");
    if (end < 0) break;
    const [statusLine = "", ...lines] = rest.slice(0, end).split("\r\n");
    const headers = lines.map((line): [string, string] => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    });
    const length = isHead
      ? 0
      : Number(headers.find(([name]) => name === "content-length")?.[1] ?? 0);
    const body = rest.slice(end + 4, end + 4 + length);
    if (body.length < length) break;
    found.push({ status: Number(statusLine.slice(9, 12)), headers, body });
    rest = rest.slice(end + 4 + length);
  }
  return found;
}
