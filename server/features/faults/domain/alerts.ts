import type { Failure } from "./failures.ts";

/** Why a group is announced. */
export type AlertKind = "new" | "reopened";

/** Names an announcement of a group; equal as long as nothing more is to be said. */
export interface Episode {
  kind: AlertKind;
  name: string;
}

/** Faults of announcements are not announced: each would cause the next. */
export const alertArea = "alert";

/** What is to be announced about a group now; null if it is not open. */
export function episodeOf({ state, decision, key }: Failure): Episode | null {
  if (key.code?.startsWith(`${alertArea}.`)) return null;
  if (state !== "open" && state !== "unknown") return null;
  const { state: decided, stateAt } = decision ?? {};
  // Reopened by an operator: nothing has happened.
  if (!stateAt || decided === "open") return { kind: "new", name: "new" };
  return { kind: "reopened", name: `reopened ${stateAt.getTime()}` };
}

export interface Alert {
  failure: Failure;
  episode: Episode;
}

/**
 * The groups to announce, the one that began first at first. `announced` has the last episode of each group: whoever
 * was announced at all is not new again.
 */
export function dueAlerts(
  failures: readonly Failure[],
  announced: ReadonlyMap<string, string>,
): Alert[] {
  const alerts: Alert[] = [];
  for (const failure of failures) {
    const episode = episodeOf(failure);
    const last = announced.get(failure.id);
    const isKnown = episode?.kind === "new" ? last !== undefined : last === episode?.name;
    if (episode !== null && !isKnown) alerts.push({ failure, episode });
  }
  return alerts.toSorted((a, b) => beganAt(a) - beganAt(b));
}

/** Of a group that is open again, its last occurrence: when it was the first one is not kept. */
export const beganAt = ({ failure, episode }: Alert): number =>
  episode.kind === "new" ? failure.firstMs : failure.lastMs;
