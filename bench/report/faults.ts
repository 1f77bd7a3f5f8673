import { median } from "../report.ts";
import type { Fault } from "./schema.ts";

/** "kill-worker at 3.2 s: over after 1.2 s; recovered after median 140 ms, maximum 345 ms of 12" */
export function describeFault({ name, at, until, recoveriesMs: times }: Fault): string {
  const back =
    until === null ? "not over before the end" : `over after ${(until - at).toFixed(1)} s`;
  if (times.length === 0) return `${name} at ${at.toFixed(1)} s: ${back}`;
  const [middle, longest] = [median(times), Math.max(...times)].map((ms) => ms.toFixed(0));
  return `${name} at ${at.toFixed(1)} s: ${back}; recovered after median ${middle} ms, maximum ${longest} ms of ${times.length}`;
}
