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
  /** In seconds of processor time. */
  cpuSeconds: number;
  failure: { seed: number; violation: Violation } | null;
}

/**
 * Resolves when every promise that can settle has settled: a tick comes after all promise continuations. An
 * event loop turn would also poll the system, which a schedule does not need, and take a sixth of the time.
 */
const settled = () => new Promise<void>((resolve) => process.nextTick(resolve));
/** Awaiting code continues from a promise. */
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
    releaseMemory(world);
  }
  const { user, system } = process.cpuUsage(cpu);
  outcome.cpuSeconds = (user + system) / 1e6;
  outcome.seconds = (performance.now() - started) / 1000;
  return outcome;
}

/**
 * Everything in a world is reachable from everything else. A single part promoted to old space would retain
 * all of it until the next major GC, which costs a quarter of the time.
 */
function releaseMemory(world: World): void {
  for (const whole of [world.net, world])
    for (const part of Object.keys(whole)) Reflect.set(whole, part, null);
}

/** Plays one seed again and prints every step. */
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
