import type { SeatLimit } from "../../../actors/index.ts";
import type { Config } from "../../platform/config/config.ts";

/** Limit of lobby commands per seat (GW-12); null without a limit. */
export function seatLimitOf({ RATE_LIMIT_FACTOR: factor }: Config): SeatLimit | null {
  return factor === 0 ? null : { max: Math.ceil(600 * factor), windowMs: 60_000 };
}
