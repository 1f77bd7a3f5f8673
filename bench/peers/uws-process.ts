import { App, us_socket_local_port, type HttpResponse } from "../../server/http/uws/uws.ts";
import { serveCalls } from "../rpc.ts";

/**
 * Upper bound: event streams on raw uWebSockets.js, without tokens, replay, limits or heartbeats. An event
 * is encoded once and written from `setImmediate`, where a write is one system call.
 */
const topics = new Map<string, { seq: number; streams: Set<HttpResponse> }>();
let pending: { streams: Set<HttpResponse>; bytes: Buffer }[] = [];

function topicOf(name: string) {
  const known = topics.get(name) ?? { seq: 0, streams: new Set() };
  topics.set(name, known);
  return known;
}

function flush(): void {
  const batch = pending;
  pending = [];
  for (const { streams, bytes } of batch)
    for (const stream of streams) stream.cork(() => stream.write(bytes));
}

const app = App();
app.get("/sub", (response, request) => {
  const { streams } = topicOf(request.getQuery("topic") ?? "");
  response.onAborted(() => streams.delete(response));
  streams.add(response);
  response.cork(() =>
    response
      .writeHeader("Content-Type", "text/event-stream")
      .writeHeader("Cache-Control", "no-store")
      .write(":\n\n"),
  );
});
app.post("/pub", (response, request) => {
  const topic = topicOf(request.getQuery("topic") ?? "");
  const parts: Buffer[] = [];
  response.onAborted(() => undefined);
  response.onData((chunk, isLast) => {
    parts.push(Buffer.from(new Uint8Array(chunk)));
    if (!isLast) return;
    topic.seq += 1;
    const data = Buffer.concat(parts).toString();
    const bytes = Buffer.from(`id: ${topic.seq}\nevent: lobby.answer\ndata: ${data}\n\n`);
    if (pending.length === 0) setImmediate(flush);
    pending.push({ streams: topic.streams, bytes });
    response.cork(() => response.writeStatus("204 No Content").endWithoutBody());
  });
});

let port = 0;
app.listen("127.0.0.1", 0, (socket) => {
  if (!socket) throw new Error("no free port");
  port = us_socket_local_port(socket);
});
const calls = { port: () => port };
export type UwsCalls = typeof calls;
serveCalls(calls);
