import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { readArguments, wholeNumber } from "../../test/support/arguments.ts";
import { inOwnFolder } from "../../test/support/own-folder.ts";
import { within } from "../load/deadline.ts";
import { runScenario } from "../load/run.ts";
import { printReport } from "../report/text.ts";
import { writeReport } from "../report/write.ts";
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
const number = (name: keyof typeof values, least = 1) =>
  wholeNumber(usage, `--${name}`, values[name], least);
const [seconds, users, workers, seed] = [
  number("seconds"),
  number("lobbies"),
  number("workers"),
  number("seed", 0),
];
const out = join(import.meta.dirname, "../out");
const endMs = 60_000;
const interruptedCode = 130;
const note = (error: unknown) => process.stderr.write(`${String(error)}\n`);

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
  mkdirSync(out, { recursive: true });
  printReport(report, writeReport(report, out));
  return interrupted.aborted ? interruptedCode : report.exitCode;
}

const interruption = new AbortController();
let running: Promise<number> = Promise.resolve(0);
process.exit(
  await inOwnFolder(
    () => (running = run(interruption.signal)),
    async () => {
      interruption.abort();
      await within(endMs, "the report of the interrupted run", running).catch(note);
    },
  ),
);
