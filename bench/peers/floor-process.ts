import { App, us_socket_local_port, type HttpResponse } from "../../server/http/uws/uws.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { connectRedis, redisReady } from "../../server/platform/redis/redis.ts";
import { serveCalls } from "../rpc.ts";

/**
 * The floor of a lobby command: one process, raw uWebSockets.js, one Redis script per command that stores
 * the command and its event, then the response, then one write per subscriber. No rules, tokens or replay.
 */
const commitScript = `
local seq = redis.call('HINCRBY', KEYS[1], 'seq', 1)
redis.call('HSET', KEYS[1], 'state', ARGV[1])
redis.call('XADD', KEYS[2], 'MAXLEN', '~', 256, seq .. '-0', 'd', ARGV[1])
return seq`;
/** The size of a pick event in a lobby of four. */
const eventData = `{"type":"lobby.pick","data":{"pad":"${"x".repeat(260)}"}}`;

interface FloorCommands {
  commitCommand(stateKey: string, eventsKey: string, event: string): Promise<number>;
}

const connection = connectRedis(process.argv[2] ?? "", silentLogger, "bench-floor");
await redisReady(connection);
connection.defineCommand("commitCommand", { numberOfKeys: 2, lua: commitScript });
const redis = connection as unknown as FloorCommands;
const rooms = new Map<string, Set<HttpResponse>>();

function subscribersOf(room: string): Set<HttpResponse> {
  const known = rooms.get(room) ?? new Set();
  rooms.set(room, known);
  return known;
}

async function commit(response: HttpResponse, room: string, isAborted: () => boolean) {
  const seq = await redis.commitCommand(`floor:${room}`, `floor:${room}:events`, eventData);
  if (!isAborted()) response.cork(() => response.writeStatus("204 No Content").endWithoutBody());
  const frame = `id: ${seq}\nevent: lobby.pick\ndata: ${eventData}\n\n`;
  for (const stream of subscribersOf(room)) stream.cork(() => stream.write(frame));
}

const app = App();
app.get("/events", (response, request) => {
  const subscribers = subscribersOf(request.getQuery("room") ?? "");
  response.onAborted(() => subscribers.delete(response));
  subscribers.add(response);
  response.cork(() => response.writeHeader("Content-Type", "text/event-stream").write(":\n\n"));
});
app.post("/command", (response, request) => {
  const room = request.getQuery("room") ?? "";
  let isAborted = false;
  response.onAborted(() => (isAborted = true));
  response.onData((_chunk, isLast) => {
    if (isLast) void commit(response, room, () => isAborted);
  });
});

let port = 0;
app.listen("127.0.0.1", 0, (socket) => {
  if (!socket) throw new Error("no free port");
  port = us_socket_local_port(socket);
});
const calls = { port: () => port };
export type FloorCalls = typeof calls;
serveCalls(calls);
