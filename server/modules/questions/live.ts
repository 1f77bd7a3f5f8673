import type { JobDeps } from "../../deps.ts";

/** How long a drawn question counts as live; a lobby does not tell when it is through with it. */
const liveMs = 30 * 60_000;
/** Live questions remembered per category and difficulty. */
const liveLimit = 500;

const keyOf = (category: string, difficulty: string) => `live-questions:${category}:${difficulty}`;

/** Ids drawn for other lobbies of late (LOB-24). A store that is away only costs the preference. */
export async function listLive(
  deps: JobDeps,
  category: string,
  difficulty: string,
): Promise<number[]> {
  try {
    const since = deps.clock.now() - liveMs;
    const ids = await deps.redis.zrangebyscore(keyOf(category, difficulty), since, "+inf");
    return ids.map(Number);
  } catch (error) {
    deps.log.warn({ err: error }, "live questions unknown");
    return [];
  }
}

export async function markLive(
  deps: JobDeps,
  category: string,
  difficulty: string,
  ids: readonly number[],
): Promise<void> {
  if (ids.length === 0) return;
  const key = keyOf(category, difficulty);
  const now = deps.clock.now();
  try {
    await deps.redis
      .multi()
      .zadd(key, ...ids.flatMap((id) => [now, id]))
      .zremrangebyrank(key, 0, -liveLimit - 1)
      .pexpire(key, liveMs)
      .exec();
  } catch (error) {
    deps.log.warn({ err: error }, "live questions not marked");
  }
}
