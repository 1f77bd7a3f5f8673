import type { Archive } from "../../../db/archive.ts";
import type { WithConfig } from "../../platform/capabilities.ts";

export interface ArchiveDeps extends WithConfig {
  archive: Archive;
}
