import type { Redis } from "ioredis";
import { connectTimeoutMs, silenceMs } from "./redis.ts";

/** A link is asked after half the time in which its silence has to be noticed, and has the other half to answer. */
const halfOf = (noticedInMs: number) => noticedInMs / 2;

/** What a connection that is asked like this is made with. */
export function askedOptions(noticedInMs = silenceMs) {
  return { connectTimeout: connectTimeoutMs, socketTimeout: halfOf(noticedInMs) };
}

/**
 * A connection that only listens sends no command whose answer could be missing, so a link that has fallen
 * silent would be taken for a quiet one for ever: it is asked something every few seconds.
 */
export function askRegularly(connections: () => Iterable<Redis>, noticedInMs = silenceMs) {
  const timer = setInterval(() => {
    for (const redis of connections())
      if (redis.status === "ready") redis.ping().catch(() => undefined);
  }, halfOf(noticedInMs));
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
