import { readArguments, refuse, wholeNumber } from "../support/arguments.ts";
import { kinds } from "./kinds.ts";
import { replay, simulate } from "./run.ts";

/** Plays random schedules; a single one is printed step by step. */
const usage = "npm run simulate -- --schedules 1000000 --seed 1 [--kind small|large|wide]";
const { values } = readArguments(usage, {
  options: {
    schedules: { type: "string", default: "100000" },
    seed: { type: "string", default: "1" },
    kind: { type: "string", default: "small" },
  },
});
const first = wholeNumber(usage, "--seed", values.seed, 0);
const count = wholeNumber(usage, "--schedules", values.schedules);
const kind =
  Object.values(kinds).find(({ name }) => name === values.kind) ??
  refuse(usage, "--kind must be small, large or wide");
const say = (line: string) => process.stdout.write(`${line}\n`);

if (count === 1) {
  const violation = await replay(first, kind, {}, say);
  say(violation ? `seed ${first} breaks: ${violation.message}` : `seed ${first} holds`);
  process.exitCode = violation ? 1 : 0;
} else {
  const { failure, schedules, steps, faults, seconds, cpuSeconds } = await simulate({
    first,
    count,
    kind,
  });
  say(
    `${schedules} ${kind.name} schedules, ${steps} steps, ${faults} faults, ${seconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} s of the processor`,
  );
  if (failure) {
    await replay(failure.seed, kind, {}, say);
    say(`seed ${failure.seed} breaks: ${failure.violation.message}`);
    process.exitCode = 1;
  }
}
