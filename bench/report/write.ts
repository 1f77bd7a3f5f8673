import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { reportPage } from "./page.ts";
import type { Report } from "./schema.ts";

/** Writes both forms of a report; resolves to their paths. */
export function writeReport(report: Report, folder: string): { json: string; html: string } {
  const time = report.run.startedAt.replace(/[:.]/g, "-").slice(0, 19);
  const base = join(folder, `${time}-${report.scenario}`);
  const files = { json: `${base}.json`, html: `${base}.html` };
  writeWhole(files.json, JSON.stringify(report));
  writeWhole(files.html, reportPage(report));
  return files;
}

/** A reader never sees half a file. */
function writeWhole(path: string, text: string): void {
  writeFileSync(`${path}.part`, text);
  renameSync(`${path}.part`, path);
}
