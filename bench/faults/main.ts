import { readArguments, wholeNumber } from "../../test/support/arguments.ts";
import { inOwnFolder } from "../../test/support/own-folder.ts";
import { describeSurvival } from "./report.ts";
import { survive } from "./survive.ts";

/** Exits with 1 if anything was lost, duplicated or missed. */
const usage = "npm run survive -- --seconds 60 --lobbies 40 [--workers 4] [--seed 1]";
const { values } = readArguments(usage, {
  options: {
    seconds: { type: "string", default: "60" },
    lobbies: { type: "string", default: "40" },
    workers: { type: "string", default: "4" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});
const number = (name: keyof typeof values, least = 1) =>
  wholeNumber(usage, `--${name}`, values[name], least);
const print = (line: string) => process.stdout.write(`${line}\n`);
const options = {
  seconds: number("seconds"),
  lobbies: number("lobbies"),
  workers: number("workers"),
  seed: number("seed", 0),
  report: print,
};

async function run(): Promise<number> {
  print(`seed ${values.seed}`);
  const report = await survive(options);
  for (const line of describeSurvival(report)) print(line);
  const { lost, doubled, gaps, differing, surprises } = report.verdict;
  return lost + doubled + gaps + differing + surprises === 0 ? 0 : 1;
}

process.exit(await inOwnFolder(run));
