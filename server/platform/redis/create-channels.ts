import type { Redis } from "ioredis";
import { healthCheckedOptions, startHealthCheck } from "./connection-health.ts";
import { asCluster, connectRedis } from "./redis.ts";
import type { Channels, ChannelsOptions } from "./channels.ts";
import { ShardedChannels } from "./sharded-channels.ts";

/** Channels confirmed with one command after a reconnect. */
const channelsPerCommand = 256;
/** A failed subscription is repeated after this time. */
const repeatMs = 250;

/** Subscribes to the channels of `publish`: one connection to a single Redis, one to each node of a cluster. */
export function createChannels(options: ChannelsOptions): Channels {
  // An automatic resubscription would hide missed messages: `confirmed` makes the caller read them.
  const { url, log, name, detectionTimeoutMs } = options;
  const { socketTimeout } = healthCheckedOptions(detectionTimeoutMs);
  const redis = connectRedis(url, log, name, { autoResubscribe: false, socketTimeout });
  const cluster = asCluster(redis);
  return cluster ? new ShardedChannels(cluster, options) : createPlainChannels(redis, options);
}

function createPlainChannels(redis: Redis, options: ChannelsOptions): Channels {
  const followed = new Set<string>();
  const check = startHealthCheck(() => [redis], options.detectionTimeoutMs);
  let isClosed = false;

  async function confirm(channels: string[]): Promise<void> {
    const wanted = channels.filter((channel) => followed.has(channel));
    if (isClosed || wanted.length === 0) return;
    try {
      await redis.subscribe(...wanted);
    } catch (error) {
      // After a lost connection the next "ready" subscribes to everything again.
      if (isClosed || redis.status !== "ready") return;
      options.log.warn({ event: "subscribe_failed", err: error }, "subscription failed, retrying");
      setTimeout(() => void confirm(wanted), repeatMs).unref();
      return;
    }
    options.confirmed(wanted.filter((channel) => followed.has(channel)));
  }

  redis.on("message", options.onMessage);
  redis.on("ready", () => {
    const all = [...followed];
    for (let i = 0; i < all.length; i += channelsPerCommand)
      void confirm(all.slice(i, i + channelsPerCommand));
  });
  return {
    follow(channel) {
      followed.add(channel);
      if (redis.status === "ready") void confirm([channel]);
    },
    unfollow(channel) {
      if (!followed.delete(channel) || redis.status !== "ready") return;
      // Redis drops the subscriptions of a closed connection, so a failure needs no retry.
      redis.unsubscribe(channel).catch(() => undefined);
    },
    close() {
      isClosed = true;
      check.stop();
      followed.clear();
      redis.disconnect();
    },
  };
}
