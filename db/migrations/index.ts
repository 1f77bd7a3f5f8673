import { Migration20260101000000_ground } from "./Migration20260101000000_ground.ts";
import { Migration20260102000000_initial } from "./Migration20260102000000_initial.ts";

/** In the order they are run. */
export const migrations = [
  Migration20260101000000_ground,
  Migration20260102000000_initial,
] as const;
