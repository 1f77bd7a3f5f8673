import { createChannels } from "../../server/platform/redis/create-channels.ts";
import type { Channels } from "../../server/platform/redis/channels.ts";
import type { Logger } from "../../server/platform/log/logger.ts";
import type { Listener } from "../log/connection.ts";

const confirmLimitMs = 10_000;

/** Subscribes to the channels of this process. */
export function createListener(
  url: string,
  log: Logger,
  name: string,
): Listener & { close(): void } {
  const waiting = new Map<string, () => void>();
  let channels: Channels | null = null;

  function confirmation(channel: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.delete(channel);
        reject(new Error(`no subscription to ${channel} within ${confirmLimitMs} ms`));
      }, confirmLimitMs);
      waiting.set(channel, () => {
        clearTimeout(timer);
        waiting.delete(channel);
        resolve();
      });
    });
  }

  return {
    listen(names, onMessage, onResumed) {
      const all = names.map(confirmation);
      channels = createChannels({
        ...{ url, log, name, onMessage },
        confirmed(active) {
          const expected = active.map((one) => waiting.get(one));
          for (const confirm of expected) confirm?.();
          if (expected.includes(undefined)) onResumed();
        },
      });
      for (const one of names) channels.follow(one);
      return Promise.all(all);
    },
    close: () => channels?.close(),
  };
}
