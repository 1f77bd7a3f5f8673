import { createChannels } from "../../server/platform/redis/create-channels.ts";
import type { Logger } from "../../server/platform/log/logger.ts";
import type { Listener } from "../log/connection.ts";

const confirmLimitMs = 10_000;

/** Subscribes to the channels of this process; `subscribe` resolves once all subscriptions are active. */
export function createListener(
  url: string,
  log: Logger,
  name: string,
): Listener & { close(): void } {
  const handlers: ((channel: string, message: string) => void)[] = [];
  const resumed: (() => void)[] = [];
  const waiting = new Map<string, () => void>();
  const channels = createChannels({
    url,
    log,
    name,
    onMessage: (channel, message) => handlers.forEach((handle) => handle(channel, message)),
    confirmed(names) {
      const expected = names.map((name) => waiting.get(name));
      for (const confirm of expected) confirm?.();
      if (expected.includes(undefined)) resumed.forEach((resume) => resume());
    },
  });

  function confirmation(name: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.delete(name);
        reject(new Error(`no subscription to ${name} within ${confirmLimitMs} ms`));
      }, confirmLimitMs);
      waiting.set(name, () => {
        clearTimeout(timer);
        waiting.delete(name);
        resolve();
      });
    });
  }

  return {
    subscribe(...names) {
      const all = names.map(confirmation);
      for (const name of names) channels.follow(name);
      return Promise.all(all);
    },
    on: (_event, handler) => handlers.push(handler),
    onResumed: (handler) => resumed.push(handler),
    close: () => channels.close(),
  };
}
