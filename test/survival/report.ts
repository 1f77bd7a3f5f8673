import type { SurvivalReport } from "./survive.ts";
import { medianOf } from "./takeover.ts";

/** The result in a few lines, printed by the command and the test. */
export function describeSurvival(report: SurvivalReport): string[] {
  const { verdict, faults } = report;
  const { lost, doubled, gaps, differing, surprises } = verdict;
  return [
    `survived ${faults.kills} kills, ${faults.freezes} freezes, ${faults.restarts} restarts of Redis`,
    `${report.lobbies} lobbies, ${report.acknowledged} acknowledged commands, ${report.messages} messages over ${report.connections} connections, ${report.direct} requests directly to the owner`,
    `lost ${lost}, doubled ${doubled}, gaps ${gaps}, differing ${differing}, surprises ${surprises}`,
    `takeover announced ${show(faults.takeovers.announced)}; silent ${show(faults.takeovers.silent)}`,
    ...verdict.findings,
  ];
}

function show(times: readonly number[]): string {
  if (times.length === 0) return "not measured";
  const [median, max] = [medianOf(times), Math.max(...times)].map(Math.round);
  return `median ${median} ms, maximum ${max} ms of ${times.length}`;
}
