import { connect, type Socket } from "node:net";

/** A complete HTTP request. */
export function requestText(
  method: string,
  path: string,
  { headers: given, body }: { headers?: Record<string, string>; body?: unknown } = {},
): string {
  const text = body === undefined ? "" : JSON.stringify(body);
  const headers: Record<string, string> = { host: "bench", ...given };
  if (text !== "") headers["content-type"] = "application/json";
  if (method !== "GET") headers["content-length"] = String(Buffer.byteLength(text));
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n${text}`;
}

/** A raw connection, so that the cost of a client library is not measured. */
export function openSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => resolve(socket));
    socket.setNoDelay(true);
    socket.once("error", reject);
  });
}

/** Sends one request and reads the complete response; resolves to its status, such as "200". */
export function ask(socket: Socket, request: string): Promise<string> {
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
      resolve(head.slice(9, 12));
    };
    const onClose = () => reject(new Error("the connection was closed"));
    if (socket.destroyed) return onClose();
    socket.on("data", onData);
    socket.once("close", onClose);
    socket.write(request);
  });
}

/** A GET that must be answered with 200. */
export async function read(socket: Socket, path: string): Promise<void> {
  const status = await ask(socket, requestText("GET", path));
  if (status !== "200") throw new Error(`${path} answered ${status}`);
}
