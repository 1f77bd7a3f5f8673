import { readFileSync } from "node:fs";
import Value from "typebox/value";
import { exitCodes } from "../report/build.ts";
import { reportVersion, ReportSchema, type Report } from "../report/schema.ts";

/** Reports that cannot be compared; the message says why. */
export class CompareError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number = exitCodes.failed) {
    super(message);
    this.name = "CompareError";
    this.exitCode = exitCode;
  }
}

/** Reads a JSON report. Throws a `CompareError` if it is none. */
export function readReport(path: string): Report {
  const content = parsed(path);
  const version = typeof content === "object" && content && "version" in content && content.version;
  if (version !== reportVersion || !Value.Check(ReportSchema, content))
    throw new CompareError(`${path} is no report of version ${reportVersion}`);
  return content;
}

function parsed(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new CompareError(
      `${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** Throws unless both reports are of the same scenario and their times mean something. */
export function checkComparable(
  reports: readonly (readonly [name: string, report: Report])[],
): void {
  for (const [name, { status, problems, generatorLimits }] of reports) {
    if (status !== "completed")
      throw new CompareError([`the run of ${name} is ${status}`, ...problems].join(": "));
    if (generatorLimits.length > 0)
      throw new CompareError(
        `the generator of ${name} was at its limit: ${generatorLimits.join("; ")}. Run it on a quieter machine, at a lower --rate, or with --load closed --users 8.`,
        exitCodes.generatorLimited,
      );
  }
  const scenarios = new Set(reports.map(([, { scenario }]) => scenario));
  if (scenarios.size > 1)
    throw new CompareError(`they are different scenarios: ${[...scenarios].join(" and ")}`);
}
