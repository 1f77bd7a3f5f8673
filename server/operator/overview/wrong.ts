import type { Static } from "typebox";
import type { Failure } from "../../features/faults/domain/failures.ts";
import { numLastHour } from "../../features/faults/domain/states.ts";
import type { Maintenance } from "../../features/rooms/domain/maintenance.ts";
import { timestamp } from "../../platform/time/clock.ts";
import type { FleetProblem } from "../../runtime/fleet/problems.ts";
import { fleetPath } from "../fleet/paths.ts";
import type { ProcessInfo } from "../../runtime/ipc.ts";
import { causeOf } from "../failures/page.ts";
import { failurePathOf } from "../failures/paths.ts";
import type { Health } from "../health/health.ts";
import { maintenancePath } from "../maintenance/page.ts";
import { queuePath } from "../jobs/paths.ts";
import type { QueueBody } from "../schemas.ts";
import { workersPath } from "../workers/page.ts";
import type { WrongBody } from "./schemas.ts";

export interface Symptoms {
  health: Static<typeof Health>;
  /** Null: not known, because their store is away. */
  failures: readonly Failure[] | null;
  queues: readonly QueueBody[] | null;
  processes: readonly ProcessInfo[];
  /** Null: off, or not known. */
  maintenance: Maintenance | null;
  fleet: readonly FleetProblem[];
}

/** Groups of failures on the overview; the rest is behind a link. */
export const maxFailuresShown = 8;
/** A job that has waited longer has no worker, or too few. */
const longWaitSeconds = 60;

const unknownFacts = { place: null, num_failed_jobs: null, num_last_hour: null, num_players: null };
const bare = { ...unknownFacts, since: null };

/**
 * What an operator has to act on, the most urgent first (OPS-71): stores, maintenance, processes, instances that do not
 * fit together, open groups of failures of the last hour or with failed jobs, and queues that stand still.
 */
export const whatIsWrong = (symptoms: Symptoms): WrongBody[] => [
  ...wrongStores(symptoms),
  ...maintenanceOf(symptoms),
  ...wrongProcesses(symptoms),
  ...symptoms.fleet.map(({ text }) => ({
    ...bare,
    kind: "fleet" as const,
    what: text,
    path: fleetPath,
  })),
  ...wrongFailures(symptoms),
  ...wrongQueues(symptoms),
];

function wrongStores({ health }: Symptoms): WrongBody[] {
  const { missing_stores: missing, read_only_stores: readOnly } = health;
  const entry = (what: string) => ({ ...bare, kind: "store" as const, what, path: "/health" });
  return [
    ...missing.map((name) => entry(`${name} does not respond`)),
    ...readOnly.map((name) => entry(`${name} refuses writes`)),
  ];
}

/** Somebody may have forgotten to end it. */
const maintenanceOf = ({ maintenance }: Symptoms): WrongBody[] =>
  maintenance === null
    ? []
    : [
        {
          ...bare,
          kind: "maintenance",
          what: "maintenance: no room is opened",
          since: timestamp(maintenance.sinceMs),
          path: maintenancePath,
        },
      ];

const wrongProcesses = ({ processes }: Symptoms): WrongBody[] =>
  processes
    .filter(({ isReady }) => !isReady)
    .map(({ role, index, restarts, startedAt }) => ({
      ...bare,
      kind: "process",
      what: `${role} ${index} is not ready; restarts: ${restarts}`,
      since: timestamp(startedAt),
      path: workersPath,
    }));

function wrongFailures({ failures }: Symptoms): WrongBody[] {
  if (failures === null)
    return [
      {
        ...bare,
        kind: "failure",
        what: "failures are unknown: Redis does not respond",
        path: "/health",
      },
    ];
  const open = failures.filter(
    (failure) =>
      (failure.state === "open" || failure.state === "unknown") &&
      (numLastHour(failure) > 0 || failure.numJobs > 0),
  );
  return open.slice(0, maxFailuresShown).map((failure) => ({
    kind: failure.key.kind === "degraded" ? ("degraded" as const) : ("failure" as const),
    what: [causeOf(failure.key), failure.key.peer, failure.key.status]
      .filter((part) => part !== null)
      .join(" "),
    place: failure.key.place,
    num_failed_jobs: failure.numJobs,
    num_last_hour: numLastHour(failure),
    num_players: failure.numPlayers,
    since: timestamp(failure.firstMs),
    path: failurePathOf(failure.id),
  }));
}

function wrongQueues({ queues }: Symptoms): WrongBody[] {
  const entry = (name: string, what: string) => ({
    ...bare,
    kind: "queue" as const,
    what: `${name}: ${what}`,
    path: queuePath(name),
  });
  return (queues ?? []).flatMap(({ name, is_paused: isPaused, oldest_waiting_seconds: oldest }) => {
    if (isPaused) return [entry(name, "paused")];
    const isLate = oldest !== null && oldest > longWaitSeconds;
    return isLate ? [entry(name, `the oldest job has waited for ${Math.round(oldest)} s`)] : [];
  });
}
