import type { Redis } from "ioredis";
import { askedOptions, askRegularly } from "./link-check.ts";
import type { Logger } from "../log/logger.ts";
import { asCluster, connectRedis } from "./redis.ts";
import { createShardedChannels } from "./sharded-channels.ts";

export interface ChannelsOptions {
  url: string;
  log: Logger;
  /** Name of the connection. */
  name: string;
  hear: (channel: string, text: string) => void;
  /** The subscriptions hold, for the first time or again: what was published before has to be read. */
  confirmed: (channels: string[]) => void;
  /** Milliseconds in which a link that has fallen silent is noticed and made anew. */
  noticedInMs?: number;
}

/** Subscriptions that are kept whatever happens to the connection. */
export interface Channels {
  follow(channel: string): void;
  unfollow(channel: string): void;
  close(): void;
}

/** Channels confirmed with one command after a reconnect. */
const channelsPerCommand = 256;
/** A failed subscription is repeated after this time. */
const repeatMs = 250;

/** Listens to what `publish` sends: to one Redis by its one connection, to a cluster node by node. */
export function createChannels(options: ChannelsOptions): Channels {
  // Without a follow-up read a repeated subscription would hide what was missed, so we do it ourselves.
  const { url, log, name, noticedInMs } = options;
  const { socketTimeout } = askedOptions(noticedInMs);
  const redis = connectRedis(url, log, name, { autoResubscribe: false, socketTimeout });
  const cluster = asCluster(redis);
  return cluster ? createShardedChannels(cluster, options) : createPlainChannels(redis, options);
}

function createPlainChannels(redis: Redis, options: ChannelsOptions): Channels {
  const followed = new Set<string>();
  const check = askRegularly(() => [redis], options.noticedInMs);
  let isClosed = false;

  async function confirm(channels: string[]): Promise<void> {
    const wanted = channels.filter((channel) => followed.has(channel));
    if (isClosed || wanted.length === 0) return;
    try {
      await redis.subscribe(...wanted);
    } catch (error) {
      // After a lost connection the next "ready" subscribes to everything again.
      if (isClosed || redis.status !== "ready") return;
      options.log.warn({ err: error }, "a subscription failed and is repeated");
      setTimeout(() => void confirm(wanted), repeatMs).unref();
      return;
    }
    options.confirmed(wanted.filter((channel) => followed.has(channel)));
  }

  redis.on("message", options.hear);
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
      followed.delete(channel);
      if (redis.status !== "ready") return;
      // A lost connection has forgotten its subscriptions, so a failure needs no second try.
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
