import { parseArgs } from "node:util";
import { replay, simulate } from "./run.ts";

/** `npm run simulate -- --schedules 1000000 --seed 1`: plays random schedules; one alone is told step by step. */
const { values } = parseArgs({
  options: {
    schedules: { type: "string", default: "100000" },
    seed: { type: "string", default: "1" },
  },
});
const first = Number(values.seed);
const count = Number(values.schedules);
const say = (line: string) => process.stdout.write(`${line}\n`);

if (count === 1) {
  const violation = await replay(first, {}, say);
  say(violation ? `seed ${first} breaks: ${violation.message}` : `seed ${first} holds`);
  process.exitCode = violation ? 1 : 0;
} else {
  const { failure, schedules, steps, faults, seconds, cpuSeconds } = await simulate({
    first,
    count,
  });
  say(
    `${schedules} schedules, ${steps} steps, ${faults} faults, ${seconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} s of the processor`,
  );
  if (failure) {
    await replay(failure.seed, {}, say);
    say(`seed ${failure.seed} breaks: ${failure.violation.message}`);
    process.exitCode = 1;
  }
}
