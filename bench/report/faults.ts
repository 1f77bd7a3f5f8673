import { median } from "../report.ts";
import type { Fault } from "./schema.ts";

/** "kill-worker at 3.2 s: over after 1.2 s; recovered after median 140 ms, maximum 345 ms of 12" */
export function describeFault({ name, at, until, recoveriesMs }: Fault): string {
  const back =
    until === null ? "not over before the end" : `over after ${(until - at).toFixed(1)} s`;
  const times = recoveriesMs.length === 0 ? "" : `; recovered after ${describeTimes(recoveriesMs)}`;
  return `${name} at ${at.toFixed(1)} s: ${back}${times}`;
}

/** "median 140 ms, maximum 345 ms of 12" */
export function describeTimes(times: readonly number[]): string {
  if (times.length === 0) return "not measured";
  return `median ${median(times).toFixed(0)} ms, maximum ${Math.max(...times).toFixed(0)} ms of ${times.length}`;
}
