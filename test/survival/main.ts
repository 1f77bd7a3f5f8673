import { parseArgs } from "node:util";
import { describeSurvival } from "./report.ts";
import { survive } from "./survive.ts";

/** `npm run survive -- --seconds 60 --lobbies 40 [--seed 1]`: exits 1 when anything was lost, doubled or missed. */
const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "60" },
    lobbies: { type: "string", default: "40" },
    workers: { type: "string", default: "4" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});
const print = (line: string) => process.stdout.write(`${line}\n`);

print(`seed ${values.seed}`);
const report = await survive({
  seconds: Number(values.seconds),
  lobbies: Number(values.lobbies),
  workers: Number(values.workers),
  seed: Number(values.seed),
  report: print,
});
for (const line of describeSurvival(report)) print(line);
const { lost, doubled, gaps, differing, surprises } = report.verdict;
process.exit(lost + doubled + gaps + differing + surprises === 0 ? 0 : 1);
