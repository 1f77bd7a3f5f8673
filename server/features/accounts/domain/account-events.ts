import type { Redis } from "ioredis";
import { createChannels } from "../../../platform/redis/create-channels.ts";
import type { Logger } from "../../../platform/log/logger.ts";
import { publish } from "../../../platform/redis/redis.ts";

/**
 * Events that invalidate caches of every HTTP process: an account was closed or reopened (TOK-11), a guest became an
 * account (S8), sessions ended with their access tokens (S44).
 */
export type AccountEvent =
  | { type: "closed" | "reopened" | "upgraded"; playerId: number }
  | { type: "ended"; playerId: number; families: string[] };

const channel = "news:accounts";

/** Publishes to all processes; call it after the commit. Rejects while Redis is unavailable. */
export async function publishAccountEvent(redis: Redis, event: AccountEvent): Promise<void> {
  await publish(redis, channel, JSON.stringify(event));
}

export interface AccountEventsOptions {
  redisUrl: string;
  log: Logger;
  onMessage: (event: AccountEvent) => void;
  /** The subscription is active, for the first time or again: caches filled before may be stale. */
  onConfirmed: () => void;
}

/** Subscribes, and resubscribes after each lost connection, until it is closed. */
export function followAccountEvents(options: AccountEventsOptions): { close(): void } {
  const channels = createChannels({
    url: options.redisUrl,
    log: options.log,
    name: "account-news",
    // The channel is ours alone, so its messages have the form above.
    onMessage: (_, text) => options.onMessage(JSON.parse(text) as AccountEvent),
    confirmed: options.onConfirmed,
  });
  channels.follow(channel);
  return channels;
}
