import type { App } from "./app.ts";

/**
 * Sends a request whose worker dies after the work is done: the client gets no response, and no response is
 * stored, so a retry finds the key unused.
 */
export async function loseAnswer(app: App, request: () => Promise<unknown>): Promise<void> {
  const { redis } = app.deps;
  const evalsha = redis.evalsha.bind(redis) as (...args: unknown[]) => Promise<unknown>;
  const isAnswer = ([, , mark, ...args]: unknown[]) =>
    String(mark).startsWith("idempotent:") && args.some((arg) => /"answer":{/.test(String(arg)));
  Object.assign(redis, {
    evalsha: (...args: unknown[]) =>
      isAnswer(args) ? Promise.reject(new Error("the worker is gone")) : evalsha(...args),
  });
  try {
    await request();
  } finally {
    Object.assign(redis, { evalsha });
  }
  // The lease of a dead request expires after some seconds.
  const marks = await redis.keys("idempotent:*");
  if (marks.length > 0) await redis.del(marks);
}
