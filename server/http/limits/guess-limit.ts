import type { Config } from "../../platform/config/config.ts";
import { limitFor, type RouteLimit } from "./rate-limit.ts";
import type { AnyRoute } from "../pipeline/route.ts";

/**
 * Names that do not exist, of an address in a window (GW-12): codes short enough to be typed are short enough to be
 * tried. They are counted over all routes that take such a name; past the limit an address learns no more, be the
 * name right or wrong.
 */
const misses = { max: 60, windowMs: 60_000 };

/** What counts the misses of a route whose names can be guessed; null for other routes, and for factor 0. */
export function guessLimitOf({ guessable }: AnyRoute, config: Config): RouteLimit | null {
  return guessable ? limitFor(`misses:${guessable.kind}`, misses, config) : null;
}
