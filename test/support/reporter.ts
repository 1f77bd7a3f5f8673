import { appendFileSync, writeSync } from "node:fs";
import { join, relative } from "node:path";
import type { TestEvent } from "node:test/reporters";
import { inspect } from "node:util";
import { processorSeconds, secondsOfFile } from "./processor-time.ts";
import { lastStarted, recordLastStarted } from "./silence.ts";

/** Name of the tests that load files. */
export const loadTestName = "next file";

/** A test may change the working directory. */
const root = process.cwd();

type Coverage = Extract<TestEvent, { type: "test:coverage" }>["data"]["summary"];

/**
 * Prints a line per file when its last test has ended: wall time and processor time in seconds, the latter
 * including child processes but not the shared Postgres. Without `file-process.ts`, work before the first
 * pause of a file counts for the one before it. Below it come diagnostics, skipped tests and failures. Sets
 * the exit code, since Node counts tests only: a file that cannot be loaded, or a failing `after`, would
 * pass.
 */
// oxlint-disable-next-line import/no-default-export -- as Node asks of a reporter
export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const names: string[] = [];
  const started: string[] = [];
  let [file, ms, details, failed] = ["", 0, "", ""];
  let before = 0;
  const describeLast = () => {
    const busy = processorSeconds() - before;
    before += busy;
    return describeFile(file, [ms / 1000, secondsOfFile(file) ?? busy], details, failed);
  };
  for await (const { type, data } of events) {
    if (type === "test:dequeue") {
      started.splice(data.nesting, started.length, data.name);
      // The loading process records the file that it loads.
      if (data.name !== loadTestName) recordLastStarted([fileOf(data), ...started].join(" > "));
    } else if (type === "test:start") {
      names.splice(data.nesting, names.length, data.name);
      const path = fileOf(data);
      if (data.nesting > 0 || path === null || path === file) continue;
      if (file !== "") yield describeLast();
      [file, ms, details, failed] = [path, 0, "", ""];
    } else if (type === "test:diagnostic") {
      // Node's own totals belong to no test.
      if (data.nesting === 0 && data.message.startsWith("Error")) {
        // An error after the end of its test, which fails the run. The message names the test.
        process.exitCode = 1;
        failed += `  ✖ ${data.message}\n`;
      } else if (data.nesting > 0 || data.message.startsWith("Warning"))
        details += `    ${data.message}\n`;
    } else if (type === "test:coverage") {
      yield describeCoverage(data.summary);
    } else if (type === "test:pass" || type === "test:fail") {
      if (data.nesting === 0) ms += data.details.duration_ms;
      const isLoading = data.name === loadTestName;
      const path = [...names.slice(0, data.nesting), data.name].join(" > ");
      const name = isLoading ? lastStarted(process.pid) : path;
      if (data.skip !== undefined) details += `  - ${name}: ${data.skip}\n`;
      if (type === "test:pass") continue;
      process.exitCode = 1;
      const { cause, failureType } = data.details.error as {
        cause?: unknown;
        failureType?: string;
      };
      if (failureType !== "subtestsFailed")
        failed += `  ✖ ${name}\n${inspect(cause).replaceAll(/^/gm, "      ")}\n`;
    }
  }
  process.off("exit", failAtExit);
  if (file !== "" || failed !== "") yield describeLast();
}

/** A test that calls `process.exit` fails the run: Node would report only the tests before it. */
function failAtExit(code: number): void {
  process.exitCode = code || 1;
  const line = `✖ ended by process.exit(${code}) in ${lastStarted(process.pid)}\n`;
  writeSync(1, line);
  noteFailure(line);
}
process.on("exit", failAtExit);

/** Files in ascending order of tested lines. */
function describeCoverage({ files, totals, workingDirectory }: Coverage): string {
  const lines = files
    .toSorted((a, b) => a.coveredLinePercent - b.coveredLinePercent)
    .map(
      ({ path, coveredLinePercent: percent }) =>
        [percent, relative(workingDirectory, path)] as const,
    );
  return [...lines, [totals.coveredLinePercent, "all lines"] as const]
    .map(([percent, name]) => `${percent.toFixed(1).padStart(5)} %  ${name}\n`)
    .join("");
}

/** A test declared by a helper has no file; one that represents a broken file has only its name. */
function fileOf({ file = "", name }: { file?: string | undefined; name: string }): string | null {
  const path = [file, name].find((one) => /\.test\.\w+$/.test(one));
  return path === undefined ? null : relative(root, path);
}

/** Failures are also printed at the end of the run. */
function describeFile(file: string, times: number[], details: string, failed: string): string {
  const seconds = times.map((one) => `${one.toFixed(1).padStart(6)} s`).join(" ");
  const line = `${failed ? "✖" : "✔"} ${seconds}  ${file}\n`;
  if (failed) noteFailure(line + failed);
  return line + details + failed;
}

function noteFailure(text: string): void {
  const folder = process.env["TEST_RUN_FOLDER"];
  if (folder) appendFileSync(join(folder, "failures"), text);
}
