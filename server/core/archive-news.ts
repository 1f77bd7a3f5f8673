import type { Redis } from "ioredis";
import type { Logger } from "./logger.ts";
import { publish } from "./redis.ts";

/**
 * Redis channel on which an import says that it is committed; the message is the slug of the game. A message
 * that gets lost costs a reader two seconds, not the news.
 */
export const archiveNewsChannel = "codex:imported";

/** Says to every process that a game was imported. The import stands, whether or not somebody hears of it. */
export function announceImports(redis: Redis, log: Logger): (game: string) => Promise<void> {
  return async (game) => {
    try {
      await publish(redis, archiveNewsChannel, game);
    } catch (error) {
      log.warn({ game, reason: String(error) }, "import not announced");
    }
  };
}
