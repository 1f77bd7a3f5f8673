import type { Redis } from "ioredis";
import { randomId } from "../../platform/ids.ts";

/** As long as an answer is repeated (HTTP-15). */
const keptMs = 24 * 3600 * 1000;

/**
 * What a handler draws by chance before it acts, such as an id: the same in every attempt under the
 * request's Idempotency-Key. To be called once; the drawn value goes through JSON.
 */
export type Once = <T>(draw: () => Promise<T>) => Promise<T>;

/** Without a key nobody can come again for the same. */
export const drawAnew: Once = (draw) => draw();

/**
 * A name for what the request does, to be written with it: an attempt that finds it there has been
 * carried out before. Null without a key.
 */
export const nameOf = async (once: Once): Promise<string | null> =>
  once === drawAnew ? null : once(async () => randomId());

/**
 * The draw of one key, caller and body. It is stored before the handler acts, and outlives an attempt
 * of which nobody knows the end: the next one carries out the very same command, in whichever process.
 */
export class Draft {
  private readonly redis: Redis;
  private readonly name: string;
  private isDrawn = false;

  constructor(redis: Redis, name: string) {
    this.redis = redis;
    this.name = name;
  }

  readonly once: Once = async <T>(draw: () => Promise<T>) => {
    this.isDrawn = true;
    const drawn = await draw();
    const present = await this.redis.set(
      this.name,
      JSON.stringify(drawn),
      "PX",
      keptMs,
      "NX",
      "GET",
    );
    return present === null ? drawn : (JSON.parse(present) as T);
  };

  /** The end of the attempt is known. */
  async drop(): Promise<void> {
    if (this.isDrawn) await this.redis.del(this.name).catch(() => 0);
  }
}
