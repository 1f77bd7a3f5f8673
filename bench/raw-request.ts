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

/** Sends one request and reads its answer to the last byte. */
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
    socket.on("data", onData);
    socket.once("close", onClose);
    socket.write(request);
  });
}
