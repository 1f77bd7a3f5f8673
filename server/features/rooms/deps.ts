import type {
  WithClock,
  WithConfig,
  WithFaults,
  WithOrigin,
  WithRedis,
  WithTokens,
} from "../../platform/capabilities.ts";
import type { WithMaintenance } from "./domain/maintenance.ts";

/** What the routes of every kind of room need, besides the rooms themselves. */
export interface RoomDeps
  extends WithClock, WithConfig, WithFaults, WithMaintenance, WithOrigin, WithRedis, WithTokens {
  ids: {
    /** Number of a new seat, unique over all processes; returned at once except for each new block. */
    seat(): number | Promise<number>;
  };
}
