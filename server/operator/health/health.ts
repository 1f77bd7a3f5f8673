import Type, { type Static } from "typebox";
import type { FleetProblem } from "../../runtime/fleet/problems.ts";
import type { ProcessInfo } from "../../runtime/ipc.ts";
import type { StoreState, StoreStates } from "./stores.ts";

export interface HealthSources {
  processes(): Promise<ProcessInfo[]>;
  stores(): Promise<StoreStates>;
  /** State of the avatar moderators in the job workers. */
  moderators(): Promise<string[]>;
  /** What does not fit between the instances of the fleet. */
  fleetProblems(): Promise<FleetProblem[]>;
}

/** In order of precedence: the first state that any job worker reports is shown. */
const moderatorStates = ["unavailable", "loading", "ready", "idle", "webhook", "manual"];

export const Health = Type.Object({
  status: Type.Union([Type.Literal("ok"), Type.Literal("unavailable")]),
  degraded: Type.Array(Type.String(), {
    description:
      "what does not work as it should: processes that are not ready, stores, avatar moderation, instances that do not fit together",
  }),
  num_processes: Type.Integer(),
  num_waiting: Type.Integer(),
  missing_stores: Type.Array(Type.String(), { description: "they do not respond" }),
  read_only_stores: Type.Array(Type.String(), {
    description: "they respond but refuse writes: full, a replica, or unable to save",
  }),
  avatar_moderation: Type.String({
    description: `${moderatorStates.join(", ")}; unavailable leaves pictures to operators`,
  }),
});

/**
 * `ok` if every process is ready and every store responds and accepts writes. The service may serve all the same:
 * that is what `/ready` says (BOOT-11).
 */
export async function readHealth(sources: HealthSources): Promise<Static<typeof Health>> {
  const [processes, stores, moderators, problems] = await Promise.all([
    sources.processes(),
    sources.stores(),
    sources.moderators(),
    sources.fleetProblems(),
  ]);
  const waiting = processes.filter((each) => !each.isReady);
  const storesThatAre = (wanted: StoreState) =>
    Object.entries(stores).flatMap(([name, state]) => (state === wanted ? [name] : []));
  const [missing, readOnly] = [storesThatAre("away"), storesThatAre("read_only")];
  const moderation = moderatorStates.find((one) => moderators.includes(one)) ?? "unavailable";
  const failing = [
    ...(processes.length === 0 ? ["the primary does not respond"] : []),
    ...waiting.map(({ role, index }) => `process ${role} ${index} is not ready`),
    ...missing.map((name) => `${name} does not respond`),
    ...readOnly.map((name) => `${name} refuses writes`),
  ];
  return {
    status: failing.length === 0 ? "ok" : "unavailable",
    degraded: [
      ...failing,
      // Without moderation, uploads wait for an operator, but everything else works.
      ...(moderation === "unavailable" ? ["no avatar moderation"] : []),
      ...problems.map(({ text }) => text),
    ],
    num_processes: processes.length,
    num_waiting: waiting.length,
    missing_stores: missing,
    read_only_stores: readOnly,
    avatar_moderation: moderation,
  };
}
