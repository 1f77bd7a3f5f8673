import type { Logger } from "../log/logger.ts";

export interface ChannelsOptions {
  url: string;
  log: Logger;
  /** Name of the connection. */
  name: string;
  onMessage: (channel: string, text: string) => void;
  /** Subscriptions were confirmed, for the first time or after a reconnect: earlier messages must be read. */
  confirmed: (channels: string[]) => void;
  /** Milliseconds until a half-open connection is detected and replaced. */
  detectionTimeoutMs?: number;
}

/** Pub/sub subscriptions that survive reconnects. */
export interface Channels {
  follow(channel: string): void;
  unfollow(channel: string): void;
  close(): void;
}
