import { connect, type Socket } from "node:net";

export function openSocket(port: number, host = "127.0.0.1"): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, host, () => resolve(socket));
    socket.setNoDelay(true);
    socket.once("error", reject);
  });
}

export interface RawAnswer {
  status: string;
  requestId: string;
  /** `name=value` of the cookie that was set, "" without one. */
  cookie: string;
}

/** Sends one request and reads the complete response. */
export function ask(socket: Socket, request: string): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    let text = "";
    const onData = (chunk: Buffer) => {
      text += chunk.toString("latin1");
      const end = text.indexOf("\r\n\r\n");
      if (end < 0) return;
      const head = text.slice(0, end);
      const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
      if (text.length < end + 4 + length) return;
      socket.off("data", onData);
      socket.off("close", onClose);
      resolve({
        status: head.slice(9, 12),
        requestId: /^x-request-id: (\S+)/im.exec(head)?.[1] ?? "",
        cookie: /^set-cookie: ([^;\r\n]+)/im.exec(head)?.[1] ?? "",
      });
    };
    const onClose = () => reject(new Error("the connection was closed"));
    if (socket.destroyed) return onClose();
    socket.on("data", onData);
    socket.once("close", onClose);
    socket.write(request);
  });
}

export interface Reader {
  /** The complete body of a GET, one request at a time. Throws unless the status is 200. */
  read(path: string): Promise<Buffer>;
  close(): void;
}

/** A raw connection for sequential requests, so that the cost of a client library is not measured. */
export async function openReader(url: string): Promise<Reader> {
  const { hostname, port, host } = new URL(url);
  const socket = await openSocket(Number(port), hostname);
  return {
    async read(path) {
      const answer = bodyOf(socket, path);
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      return answer;
    },
    close: () => socket.destroy(),
  };
}

function bodyOf(socket: Socket, path: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let missing: number | null = null;
    const onData = (chunk: Buffer) => {
      chunks.push(chunk);
      if (missing === null) missing = bodyLeft(chunks);
      else missing -= chunk.length;
      if (missing !== 0) return;
      settle();
      const whole = Buffer.concat(chunks);
      const status = whole.toString("latin1", 9, 12);
      if (status !== "200") return reject(new Error(`${path} answered ${status}`));
      resolve(whole.subarray(whole.indexOf(headEnd) + headEnd.length));
    };
    const onClose = () => {
      settle();
      reject(new Error(`the connection was closed before ${path} was answered`));
    };
    const settle = () => socket.off("data", onData).off("close", onClose);
    socket.on("data", onData).once("close", onClose);
  });
}

const headEnd = "\r\n\r\n";

/** Outstanding bytes of the body; null before the complete head. */
function bodyLeft(chunks: Buffer[]): number | null {
  const received = Buffer.concat(chunks);
  const end = received.indexOf(headEnd);
  if (end < 0) return null;
  const length = /^content-length: (\d+)/im.exec(received.toString("latin1", 0, end))?.[1];
  return Number(length ?? 0) - (received.length - end - headEnd.length);
}
