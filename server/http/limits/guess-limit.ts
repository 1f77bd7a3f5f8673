import type { Config } from "../../platform/config/config.ts";
import { limitFor, type RouteLimit } from "./rate-limit.ts";
import type { AnyRoute } from "../pipeline/route.ts";

/**
 * Guess limit: unknown names per address and window (GW-12), since a code short enough to type can be guessed.
 * Misses are counted over all routes that take such a name; beyond the limit right and wrong names are refused alike.
 */
const misses = { max: 60, windowMs: 60_000 };

/** Guess limit of a route with guessable names; null for other routes and for factor 0. */
export function guessLimitOf({ guessable }: AnyRoute, config: Config): RouteLimit | null {
  return guessable ? limitFor(`misses:${guessable.kind}`, misses, config) : null;
}
