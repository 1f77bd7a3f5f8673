import { join } from "node:path";
import { readArguments, wholeNumber } from "../../test/support/arguments.ts";
import { interruptible } from "../load/interruption.ts";
import { runScenario } from "../load/run.ts";
import { publishReport } from "../report/write.ts";
import { loadScenario } from "../scenarios.ts";
import { ownInstance } from "../target.ts";
import { startSeconds, survivalBeside } from "./beside.ts";

/** The scenario `survival` under kills; exits with 3 if anything was lost, doubled or missed. */
const usage = "npm run survive -- --seconds 60 --lobbies 40 [--workers 4] [--seed 1]";
const { values } = readArguments(usage, {
  options: {
    seconds: { type: "string", default: "60" },
    lobbies: { type: "string", default: "40" },
    workers: { type: "string", default: "4" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});
const interruptedCode = 130;
const number = (name: keyof typeof values, least = 1) =>
  wholeNumber(usage, `--${name}`, values[name], least);
const [seconds, users, workers, seed] = [
  number("seconds"),
  number("lobbies"),
  number("workers"),
  number("seed", 0),
];

async function run(interrupted: AbortSignal): Promise<number> {
  process.stdout.write(`seed ${seed}\n`);
  const report = await runScenario({
    ...(await loadScenario("survival")),
    load: { shape: "closed", users, seconds: startSeconds + seconds },
    ...{ seed, processes: 1, maxInFlight: users, interrupted },
    command: ["npm run survive --", ...process.argv.slice(2)].join(" "),
    target: ownInstance({ HTTP_WORKERS: String(workers) }),
    beside: survivalBeside(seconds, users),
  });
  publishReport(report, join(import.meta.dirname, "../out"));
  return interrupted.aborted ? interruptedCode : report.exitCode;
}

process.exit(await interruptible(run));
