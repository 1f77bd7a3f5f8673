import { EmberlineError } from "../../server/web/client/emberline.ts";

/**
 * Makes so many, a few at once, or as many as the rate limits of the target allow to one address; throws if that is none.
 * `make` may resolve to null when it could not.
 */
export async function asManyAsAllowed<T>(
  count: number,
  atOnce: number,
  make: () => Promise<T | null>,
): Promise<T[]> {
  const made: T[] = [];
  let left = count;
  let limit: EmberlineError | null = null;
  const lane = async () => {
    while (left-- > 0 && !limit)
      try {
        const one = await make();
        if (one !== null) made.push(one);
      } catch (error) {
        if (!(error instanceof EmberlineError && error.status === 429)) throw error;
        limit = error;
      }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  if (limit && made.length === 0) throw limit;
  return made;
}
