import Type, { type Static } from "typebox";
import { Timestamp } from "../../platform/schemas.ts";

const WorkersOfRole = Type.Object({ num_ready: Type.Integer(), num: Type.Integer() });

export const InstanceBody = Type.Object({
  id: Type.String(),
  host: Type.String(),
  pid: Type.Integer({ description: "of its first process" }),
  version: Type.String(),
  commit: Type.String({ description: "of its build; unknown if that had no history" }),
  build: Type.String({ description: "digest of the sources of its build" }),
  environment: Type.String(),
  ready: Type.String({ description: "the word of its /ready" }),
  started_at: Timestamp,
  public_address: Type.String({ description: "where it listens, without a balancer" }),
  operator_address: Type.String(),
  http_workers: WorkersOfRole,
  job_workers: WorkersOfRole,
  num_streams: Type.Integer(),
  num_rooms: Type.Integer({ description: "in memory" }),
  memory_bytes: Type.Integer({ description: "of its HTTP and job workers" }),
  loop_lag_ms: Type.Unsafe<number | null>({
    ...{ type: ["integer", "null"], description: "of its slowest process" },
  }),
  clock_offset_ms: Type.Integer({ description: "its clock minus that of Redis" }),
});

export const ProblemBody = Type.Object({
  kind: Type.Enum(["secrets", "avatar-folder", "clocks", "import-folder", "local-imports"]),
  text: Type.String({ description: "what is wrong where, and what to do" }),
});

export const FleetBody = Type.Object({
  instances: Type.Union([Type.Array(InstanceBody), Type.Null()], {
    description: "whose lease of 15 s has not ended; null while Redis does not respond",
  }),
  problems: Type.Array(ProblemBody, { description: "what does not fit between the instances" }),
  unregistered: Type.Array(Type.String(), {
    description:
      "incarnations of HTTP workers that share the rooms, and belong to no registered instance, as those of a release before the registry",
  }),
});
export type FleetBody = Static<typeof FleetBody>;
