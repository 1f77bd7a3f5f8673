import { readFileSync } from "node:fs";
import { asset } from "../../../../../server/platform/assets.ts";

/** Whether Redis is sent this script of the leaderboards. */
export const isScript = (name: "apply" | "fill", text: string): boolean =>
  text === readFileSync(asset(`server/features/leaderboards/domain/${name}.lua`), "utf8");
