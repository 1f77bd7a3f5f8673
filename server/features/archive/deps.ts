import type { Archive } from "./domain/archive.ts";
import type { WithConfig } from "../../platform/capabilities.ts";

export interface ArchiveDeps extends WithConfig {
  archive: Archive;
}
