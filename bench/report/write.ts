import { accessSync, constants, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { asMarkdown } from "./document.ts";
import { documentOf, reportPage } from "./page.ts";
import type { Report } from "./schema.ts";

/** A file cannot be written; the message says which and why. */
export class WriteError extends Error {}

/** Makes the folder. Throws where a report could not be written into it. */
export function makeReportFolder(folder: string): void {
  mkdirSync(folder, { recursive: true });
  accessSync(folder, constants.W_OK);
}

/** Writes both forms of a report; returns the path of the page. Throws a `WriteError`. */
export function writeReport(report: Report, folder: string): string {
  mkdirSync(folder, { recursive: true });
  const time = report.run.startedAt.replace(/[:.]/g, "-").slice(0, 19);
  const base = join(folder, `${time}-${report.scenario}`);
  writeWhole(`${base}.json`, JSON.stringify(report));
  writeWhole(`${base}.html`, reportPage(report));
  return `${base}.html`;
}

/** Prints a report, one of a run that brought no load in one line, and writes it. Throws a `WriteError`. */
export function publishReport(report: Report, folder: string): void {
  const { verdict, exitCode, generators } = report;
  const text =
    generators.length > 0 ? asMarkdown(documentOf(report)) : `${verdict} Exit code ${exitCode}.\n`;
  process.stdout.write(text);
  process.stdout.write(`${writeReport(report, folder)}\n`);
}

/** A reader never sees half a file. Throws a `WriteError`. */
export function writeWhole(path: string, text: string): void {
  const part = `${path}.part`;
  try {
    writeFileSync(part, text);
    renameSync(part, path);
  } catch (error) {
    rmSync(part, { force: true });
    const reason = error instanceof Error ? error.message : String(error);
    throw new WriteError(`${path} cannot be written: ${reason}`, { cause: error });
  }
}
