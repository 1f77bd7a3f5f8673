import { setImmediate as turn } from "node:timers/promises";
import { App, us_socket_local_port, type HttpResponse } from "../../server/http/uws/uws.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { connectRedis, redisReady } from "../../server/platform/redis/redis.ts";
import { serveCalls } from "../rpc.ts";

/**
 * The floor of a lobby: one process, raw uWebSockets.js, a response to each command, then one write per subscriber. With
 * the URL of a Redis, one script first stores the command and its event. No rules, tokens, replay, limits or heartbeats.
 */
const commitScript = `
local seq = redis.call('HINCRBY', KEYS[1], 'seq', 1)
redis.call('HSET', KEYS[1], 'state', ARGV[1])
redis.call('XADD', KEYS[2], 'MAXLEN', '~', 256, seq .. '-0', 'd', ARGV[1])
return seq`;
/** The size of a pick event in a lobby of four. */
const eventData = `{"type":"lobby.pick","data":{"pad":"${"x".repeat(260)}"}}`;

interface Room {
  /** Number of the last event, without Redis. */
  seq: number;
  subscribers: Set<HttpResponse>;
}

const [redisUrl] = process.argv.slice(2);
const redis = redisUrl === undefined ? null : connectRedis(redisUrl, silentLogger, "bench-floor");
if (redis) await redisReady(redis);
const script = String(await redis?.script("LOAD", commitScript));
const rooms = new Map<string, Room>();

function roomOf(name: string): Room {
  const known = rooms.get(name) ?? { seq: 0, subscribers: new Set() };
  rooms.set(name, known);
  return known;
}

async function commit(response: HttpResponse, name: string, isAborted: () => boolean) {
  const room = roomOf(name);
  let seq = (room.seq += 1);
  // In a turn of its own a write is one system call.
  if (redis === null) await turn();
  else
    seq = Number(
      await redis.evalsha(script, 2, `floor:${name}`, `floor:${name}:events`, eventData),
    );
  const frame = `id: ${seq}\nevent: lobby.pick\ndata: ${eventData}\n\n`;
  if (!isAborted()) response.cork(() => response.writeStatus("204 No Content").endWithoutBody());
  for (const stream of room.subscribers) stream.cork(() => stream.write(frame));
}

const app = App();
app.get("/events", (response, request) => {
  const { subscribers } = roomOf(request.getQuery("room") ?? "");
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
serveCalls({ port: () => port });
