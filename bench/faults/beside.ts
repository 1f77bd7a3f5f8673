import type { Beside, Happened } from "../load/run.ts";
import { note } from "../report.ts";
import { injectFaults } from "./inject.ts";
import { planFaults, type FaultKind, type PlannedFault } from "./plan.ts";

const patienceMs = 15_000;

/** Causes these faults beside the load of a run, at times that its seed chooses. */
export const faultsBeside = (kinds: readonly FaultKind[], seed: number) => (context: Beside) =>
  planBeside(context, planFaults(kinds, context.seconds, seed));

/** Causes the planned faults beside the load of a run. One that could not happen is a problem of the run. */
export async function planBeside(
  context: Beside,
  plan: readonly PlannedFault[],
): Promise<Happened> {
  const { target, startedAt, lobbies, cutStreams, signal } = context;
  if (!target.instance) throw new Error("faults hit an own instance only");
  const { faults, missed, died } = await injectFaults({
    ...{ service: target.instance, plan, startedAt, codes: lobbies, cutStreams, signal },
    patienceMs,
    report: note,
  });
  const deaths = died.map((pid) => `worker ${pid} ended by itself`);
  return { faults, problems: [...missed, ...deaths] };
}
