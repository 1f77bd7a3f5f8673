import type { Socket } from "node:net";
import type { Redis } from "ioredis";
import { lobbyKeyspace } from "../../actors/index.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { connectRedis, redisReady } from "../../server/platform/redis/redis.ts";
import { requestText } from "../load.ts";
import { ask, openSocket } from "../raw-request.ts";

/** Where events are published: a path that accepts POST, or the Redis of the lobbies. */
export type Target = { kind: "http"; port: number } | { kind: "redis"; url: string };

export interface Publisher {
  /** Events of one topic arrive in the order of the calls. */
  publish(topic: string, seq: number, message: string): void;
  /** Sends the events published in this turn. */
  flush(): void;
  /** Resolves when everything was accepted. */
  done(): Promise<void>;
  close(): void;
}

const keptMessages = 256;
const postConnections = 16;

export async function openPublisher(target: Target): Promise<Publisher> {
  return target.kind === "http" ? openPosts(target.port) : openRedis(target.url);
}

/** Like the commit script: writes to the lobby's stream and to its channel. */
async function openRedis(url: string): Promise<Publisher> {
  const redis: Redis = connectRedis(url, silentLogger, "bench-publisher");
  await redisReady(redis);
  let batch = redis.pipeline();
  let sent: Promise<unknown> = Promise.resolve();
  const flush = () => {
    if (batch.length === 0) return;
    sent = batch.exec();
    batch = redis.pipeline();
  };
  return {
    publish(topic, seq, message) {
      const text = `${seq}\n${message}`;
      batch.xadd(lobbyKeyspace.stream(topic), "MAXLEN", "~", keptMessages, `${seq}-0`, "d", text);
      batch.publish(lobbyKeyspace.channel(topic), text);
    },
    flush,
    async done() {
      flush();
      await sent;
    },
    close: () => redis.disconnect(),
  };
}

/** One POST at a time per connection; a topic always uses the same connection, which preserves its order. */
async function openPosts(port: number): Promise<Publisher> {
  const sockets = await Promise.all(
    Array.from({ length: postConnections }, () => openSocket(port)),
  );
  const lanes = sockets.map(() => Promise.resolve());
  const laneOf = new Map<string, number>();
  const post = async (socket: Socket, topic: string, message: string) => {
    const path = `/pub?topic=${topic}`;
    const { status } = await ask(socket, requestText("POST", path, { text: message }));
    if (!status.startsWith("2")) throw new Error(`the publication was answered ${status}`);
  };
  return {
    publish(topic, _seq, message) {
      const lane = laneOf.get(topic) ?? laneOf.size % sockets.length;
      laneOf.set(topic, lane);
      const socket = sockets[lane];
      if (socket)
        lanes[lane] = (lanes[lane] ?? Promise.resolve()).then(() => post(socket, topic, message));
    },
    flush: () => undefined,
    done: async () => void (await Promise.all(lanes)),
    close: () => sockets.forEach((socket) => socket.destroy()),
  };
}
