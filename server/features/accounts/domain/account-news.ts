import type { Redis } from "ioredis";
import { createChannels } from "../../../platform/redis/channels.ts";
import type { Logger } from "../../../platform/log/logger.ts";
import { publish } from "../../../platform/redis/redis.ts";

/**
 * What every HTTP process has to hear at once, because it remembers such things: an account was
 * closed or opened again (TOK-11), a guest became an account (S8), sessions ended with their access tokens (S44).
 */
export type AccountNews =
  | { type: "closed" | "reopened" | "upgraded"; playerId: number }
  | { type: "ended"; playerId: number; families: string[] };

const channel = "news:accounts";

/** Tells all processes; call it after the commit. Rejects while the store is away. */
export async function tellAccountNews(redis: Redis, news: AccountNews): Promise<void> {
  await publish(redis, channel, JSON.stringify(news));
}

export interface AccountNewsOptions {
  redisUrl: string;
  log: Logger;
  hear: (news: AccountNews) => void;
  /** News come from now on, for the first time or again: what was remembered before may be wrong. */
  confirmed: () => void;
}

/** Follows the news over every loss of the connection until it is closed. */
export function followAccountNews(options: AccountNewsOptions): { close(): void } {
  const channels = createChannels({
    url: options.redisUrl,
    log: options.log,
    name: "account-news",
    // The channel is ours alone, so its messages have the form above.
    hear: (_, text) => options.hear(JSON.parse(text) as AccountNews),
    confirmed: options.confirmed,
  });
  channels.follow(channel);
  return channels;
}
