import Type, { type Static } from "typebox";
import type { ProcessInfo } from "../../runtime/ipc.ts";
import type { StoreState, StoreStates } from "./stores.ts";

export interface ReadinessDeps {
  processes(): Promise<ProcessInfo[]>;
  stores(): Promise<StoreStates>;
  /** State of the avatar moderators in the job workers. */
  moderators(): Promise<string[]>;
}

/** In order of precedence: the first state that any job worker reports is shown. */
const moderatorStates = ["unavailable", "loading", "ready", "idle", "webhook", "manual"];

export const Readiness = Type.Object({
  status: Type.Union([Type.Literal("ok"), Type.Literal("unavailable")]),
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

/** `ok` if every process has started and every store responds and accepts writes. */
export async function readiness(sources: ReadinessDeps): Promise<Static<typeof Readiness>> {
  const [processes, stores, moderators] = await Promise.all([
    sources.processes(),
    sources.stores(),
    sources.moderators(),
  ]);
  const waiting = processes.filter((each) => !each.isReady).length;
  const storesThatAre = (wanted: StoreState) =>
    Object.entries(stores).flatMap(([name, state]) => (state === wanted ? [name] : []));
  const hasStores = Object.values(stores).every((state) => state === "ok");
  const isReady = processes.length > 0 && waiting === 0 && hasStores;
  return {
    status: isReady ? "ok" : "unavailable",
    num_processes: processes.length,
    num_waiting: waiting,
    missing_stores: storesThatAre("away"),
    read_only_stores: storesThatAre("read_only"),
    // Without moderation, uploads wait for an operator, but the service is ready.
    avatar_moderation: moderatorStates.find((one) => moderators.includes(one)) ?? "unavailable",
  };
}
