import type { Redis } from "ioredis";

/**
 * Begins the windows of all limits again: none ends while a test counts, however slowly its machine works. Before each
 * request of such a test.
 */
export async function holdWindows(redis: Redis, windowMs = 60_000): Promise<void> {
  const keys = await redis.keys("limit:*");
  await Promise.all(keys.map((key) => redis.pexpire(key, windowMs, "GT")));
}
