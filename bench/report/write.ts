import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { asMarkdown } from "./document.ts";
import { documentOf, reportPage } from "./page.ts";
import type { Report } from "./schema.ts";

/** Writes both forms of a report; returns the path of the page. */
export function writeReport(report: Report, folder: string): string {
  mkdirSync(folder, { recursive: true });
  const time = report.run.startedAt.replace(/[:.]/g, "-").slice(0, 19);
  const base = join(folder, `${time}-${report.scenario}`);
  writeWhole(`${base}.json`, JSON.stringify(report));
  writeWhole(`${base}.html`, reportPage(report));
  return `${base}.html`;
}

/** Writes a report and prints it; one of a run that brought no load in one line. */
export function publishReport(report: Report, folder: string): void {
  const file = writeReport(report, folder);
  const { verdict, exitCode, generators } = report;
  const text =
    generators.length > 0 ? asMarkdown(documentOf(report)) : `${verdict} Exit code ${exitCode}.\n`;
  process.stdout.write(`${text}${file}\n`);
}

/** A reader never sees half a file. */
function writeWhole(path: string, text: string): void {
  writeFileSync(`${path}.part`, text);
  renameSync(`${path}.part`, path);
}
