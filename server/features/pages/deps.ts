import type { Archive } from "../archive/domain/archive.ts";
import type { WithConfig } from "../../platform/capabilities.ts";

export interface PageDeps extends WithConfig {
  archive: Pick<Archive, "games">;
}
