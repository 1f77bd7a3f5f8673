import type { Archive } from "../archive/domain/archive.ts";
import type { WithConfig } from "../../platform/capabilities.ts";

export interface GameDataDeps extends WithConfig {
  archive: Archive;
}
