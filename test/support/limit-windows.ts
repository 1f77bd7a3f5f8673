import type { Redis } from "ioredis";

/**
 * Resets the windows of all limits, so that none ends while a test counts, however slow the machine. Call
 * it before each request of such a test.
 */
export async function holdWindows(redis: Redis, windowMs = 60_000): Promise<void> {
  const keys = await redis.keys("limit:*");
  await Promise.all(keys.map((key) => redis.pexpire(key, windowMs, "GT")));
}
