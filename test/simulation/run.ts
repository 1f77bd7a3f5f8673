import type { Violation } from "./ledger.ts";
import { small, type Kind } from "./kinds.ts";
import type { Sabotage } from "./sabotage.ts";
import { Schedule } from "./schedule.ts";
import type { World } from "./world.ts";

export interface Outcome {
  schedules: number;
  steps: number;
  faults: number;
  seconds: number;
  /** Of the processor. */
  cpuSeconds: number;
  failure: { seed: number; violation: Violation } | null;
}

/**
 * Resolves when every promise that can has settled: to what goes on from a promise, a tick comes after them all. A turn
 * of the loop would also ask the system for news, which a schedule has none of, and take a sixth of the time.
 */
const settled = () => new Promise<void>((resolve) => process.nextTick(resolve));
/** Whoever awaits it goes on from a promise. */
const fromPromise = Promise.resolve();

/** Plays the seeds `first`, `first + stride`, … until one fails. */
export async function simulate(options: {
  first: number;
  count: number;
  stride?: number;
  kind?: Kind;
  sabotage?: Sabotage;
}): Promise<Outcome> {
  const { first, count, stride = 1, kind = small, sabotage = {} } = options;
  const started = performance.now();
  const cpu = process.cpuUsage();
  const outcome: Outcome = {
    schedules: 0,
    steps: 0,
    faults: 0,
    seconds: 0,
    cpuSeconds: 0,
    failure: null,
  };
  await fromPromise;
  for (let n = 0; n < count && !outcome.failure; n++) {
    const schedule = new Schedule(first + stride * n, kind, sabotage);
    await settled();
    while (schedule.step()) await settled();
    const { world } = schedule;
    outcome.schedules += 1;
    outcome.steps += schedule.steps;
    outcome.faults += world.injected + world.net.injected;
    if (world.failure) outcome.failure = { seed: world.seed, violation: world.failure };
    await settled();
    dismantle(world);
  }
  const { user, system } = process.cpuUsage(cpu);
  outcome.cpuSeconds = (user + system) / 1e6;
  outcome.seconds = (performance.now() - started) / 1000;
  return outcome;
}

/**
 * Everything in a world leads to everything else by way of it. Whatever of it the collector took for old
 * would keep all of it until the next large collection, which is a quarter of the time.
 */
function dismantle(world: World): void {
  for (const part of Object.keys(world)) Reflect.set(world, part, null);
}

/** Plays one seed again and tells everything that happens. */
export async function replay(
  seed: number,
  kind: Kind,
  sabotage: Sabotage,
  note: (line: string) => void,
): Promise<Violation | null> {
  await fromPromise;
  const schedule = new Schedule(seed, kind, sabotage, note);
  await settled();
  while (schedule.step()) await settled();
  return schedule.world.failure;
}
