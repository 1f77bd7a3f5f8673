import { setTimeout as pause } from "node:timers/promises";
import type { Beside, Happened } from "../load/beside.ts";
import { Injector } from "./inject.ts";
import { planFaults, planSurvival, type FaultKind, type PlannedFault } from "./plan.ts";

const pollMs = 100;
/** The first games of a busy machine begin late. */
export const startSeconds = 60;
const usualPatienceMs = 15_000;

/** Causes these faults beside the load of a run, at times that its seed chooses. */
export const faultsBeside = (kinds: readonly FaultKind[], seed: number) => (context: Beside) =>
  planBeside(context, planFaults(kinds, context.seconds, seed));

/**
 * The faults of `npm run survive` for this long, from when half of the lobbies are played; then the load ends, which has
 * `startSeconds` more.
 */
export const survivalBeside =
  (seconds: number, numLobbies: number) =>
  async (context: Beside): Promise<Happened> => {
    const { lobbies, signal, startedAt, finish } = context;
    while (!signal.aborted && (await lobbies()).length < numLobbies / 2)
      await pause(pollMs, undefined, { signal }).catch(() => undefined);
    const beganMs = performance.now() - startedAt;
    const plan = planSurvival(seconds).map(({ kind, atMs }) => ({ kind, atMs: beganMs + atMs }));
    const happened = await planBeside(context, plan, { patienceMs: 0 });
    finish();
    return happened;
  };

/**
 * Causes the planned faults beside the load of a run. One that could not happen is a problem of the run, except without
 * patience: then the plan is to hit whenever possible.
 */
export async function planBeside(
  context: Beside,
  plan: readonly PlannedFault[],
  { patienceMs = usualPatienceMs } = {},
): Promise<Happened> {
  const { instance } = context.target;
  if (!instance) throw new Error("faults hit an own instance only");
  const injector = new Injector(context, instance, patienceMs);
  const faults = await injector.run(plan);
  const deaths = injector.died.map((pid) => `worker ${pid} ended by itself`);
  return { faults, problems: [...(patienceMs > 0 ? injector.missed : []), ...deaths] };
}
