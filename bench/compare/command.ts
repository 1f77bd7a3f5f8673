import { writeFileSync } from "node:fs";
import { basename } from "node:path";
import { Command } from "commander";
import { exitCodes } from "../report/build.ts";
import { compareReports, type Comparison } from "./compare.ts";
import { checkComparable, CompareError, readReport } from "./read.ts";
import { comparisonPage, comparisonText } from "./text.ts";

/** `npm run bench -- compare a.json b.json`. */
const program = new Command("npm run bench -- compare")
  .description("Compares two reports of one scenario: is the second one faster or slower?")
  .argument("<before.json>")
  .argument("<after.json>")
  .option("--html <file>", "also writes the comparison as a page")
  .addHelpText(
    "after",
    `\nExit codes: 0 not slower, 1 error, 2 slower, ${exitCodes.tooNoisy} too noisy.`,
  )
  .action((before: string, after: string, { html }: { html?: string }) => {
    const comparison = compareFiles(before, after);
    process.stdout.write(comparisonText(comparison));
    if (html !== undefined) writeFileSync(html, comparisonPage(comparison));
    process.exitCode = comparison.exitCode;
  });

function compareFiles(before: string, after: string): Comparison {
  try {
    const [a, b] = [readReport(before), readReport(after)];
    checkComparable([
      [before, a],
      [after, b],
    ]);
    return compareReports(a, b, [basename(before), basename(after)]);
  } catch (error) {
    if (error instanceof CompareError)
      return program.error(error.message, { exitCode: error.exitCode });
    throw error;
  }
}

await program.parseAsync();
