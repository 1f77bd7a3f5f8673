import { describeTimes } from "../report/faults.ts";
import type { FaultKind } from "./plan.ts";
import type { SurvivalReport } from "./survive.ts";

/** The result in a few lines, printed by the command and the test. */
export function describeSurvival(report: SurvivalReport): string[] {
  const { verdict, faults } = report;
  const { lost, doubled, gaps, differing, surprises } = verdict;
  const all = (kind: FaultKind) => faults.filter(({ name }) => name === kind);
  const takeover = (kind: FaultKind) => describeTimes(takeoversOf(report, kind));
  return [
    `survived ${all("kill-worker").length} kills, ${all("freeze-worker").length} freezes, ${all("restart-redis").length} restarts of Redis`,
    `${report.lobbies} lobbies, ${report.acknowledged} acknowledged commands, ${report.messages} messages over ${report.connections} connections, ${report.direct} requests directly to the owner`,
    `lost ${lost}, doubled ${doubled}, gaps ${gaps}, differing ${differing}, surprises ${surprises}`,
    `takeover announced ${takeover("kill-worker")}; silent ${takeover("freeze-worker")}`,
    ...verdict.findings,
  ];
}

/** Milliseconds from faults of this kind until each lobby of the victim answered again. */
export const takeoversOf = ({ faults }: SurvivalReport, kind: FaultKind): number[] =>
  faults.filter(({ name }) => name === kind).flatMap(({ recoveriesMs }) => recoveriesMs);
