import Type, { type Static } from "typebox";
import { NullableTimestamp, Timestamp } from "../../platform/schemas.ts";
import { orNull } from "../schemas.ts";
import { ProcessBody } from "./processes.ts";

const numberOrNull = Type.Unsafe<number | null>({ type: ["number", "null"] });

const ServiceBody = Type.Object({
  service: Type.String({ description: "id of the instance, as at /operator/fleet" }),
  host: Type.String(),
});

/** A process of any instance, with what it reports about itself. */
export const WorkerBody = Type.Object({
  ...ServiceBody.properties,
  ...ProcessBody.properties,
  memory_bytes: numberOrNull,
  loop_lag_ms: numberOrNull,
});

export const ProcessEventBody = Type.Object({
  at: Timestamp,
  kind: Type.String({ description: "started, exited, frozen, drained, takeover and others" }),
  role: Type.String(),
  index: Type.Integer(),
  pid: Type.Integer(),
  instance: orNull(Type.String()),
  version: orNull(Type.String()),
  build: orNull(Type.String()),
  service: Type.String({ description: "instance id of the first process of its service" }),
  detail: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Null()])),
});

export const WorkersBody = Type.Object({
  workers: Type.Array(WorkerBody, { description: "of all instances, of this one first" }),
  unanswered: Type.Array(ServiceBody, {
    description: "instances that did not answer: their processes are unknown",
  }),
  events: Type.Union([Type.Array(ProcessEventBody), Type.Null()], {
    description: "the last 50; null while Postgres does not respond",
  }),
});

export const EventsQuery = Type.Object({
  from: Type.Optional(
    Type.String({ format: "date-time", description: "default: a day before `to`" }),
  ),
  to: Type.Optional(Type.String({ format: "date-time", description: "default: now" })),
});

export const EventsBody = Type.Object({
  events: Type.Array(ProcessEventBody),
  older_than: NullableTimestamp,
});

export type ProcessEventBody = Static<typeof ProcessEventBody>;
