import type { App } from "./app.ts";

/**
 * Makes a request whose worker ends when the work is done: its client hears nothing, and nobody keeps
 * the answer for the next try, which finds the key free again.
 */
export async function loseAnswer(app: App, request: () => Promise<unknown>): Promise<void> {
  const { redis } = app.deps;
  const set = redis.set.bind(redis) as (...args: unknown[]) => Promise<unknown>;
  const isAnswer = (args: unknown[]) =>
    String(args[0]).startsWith("idempotent:") && !args.includes("NX");
  Object.assign(redis, {
    set: (...args: unknown[]) =>
      isAnswer(args) ? Promise.reject(new Error("the worker is gone")) : set(...args),
  });
  try {
    await request();
  } finally {
    Object.assign(redis, { set });
  }
  // What a request that died leaves behind ends by itself after some seconds.
  const marks = await redis.keys("idempotent:*");
  if (marks.length > 0) await redis.del(marks);
}
