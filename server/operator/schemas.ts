import Type, { type Static } from "typebox";
import { Timestamp } from "../platform/schemas.ts";

const maxPage = 1_000;
export const maxReason = 500;

export const orNull = <T extends ReturnType<typeof Type.String>>(schema: T) =>
  Type.Union([schema, Type.Null()]);

/** The reason for a change, for the audit log (S16). */
const Reason = Type.String({ maxLength: maxReason, description: "why, for the audit log" });

/** Field of a form: the page to which a browser returns after the change. */
export const Back = Type.Optional(
  Type.String({
    maxLength: 512,
    pattern: "^/operator(?:[/?#][^\\\\]*)?$",
    description: "for forms: the page to show next",
  }),
);
export const ReasonBody = Type.Object({
  reason: Type.String({ ...Reason, minLength: 1, pattern: "\\S" }),
  back: Back,
});
export const OptionalReasonBody = Type.Object({ reason: Type.Optional(Reason), back: Back });

export const QueueParams = Type.Object({ queue: Type.String({ minLength: 1, maxLength: 64 }) });
export const JobParams = Type.Object({
  queue: Type.String({ minLength: 1, maxLength: 64 }),
  id: Type.String({ minLength: 1, maxLength: 256 }),
});
export const JobsQuery = Type.Object({
  state: Type.Union(
    [
      Type.Literal("waiting"),
      Type.Literal("active"),
      Type.Literal("delayed"),
      Type.Literal("prioritized"),
      Type.Literal("waiting-children"),
      Type.Literal("completed"),
      Type.Literal("failed"),
    ],
    { default: "failed" },
  ),
  page: Type.Integer({ minimum: 1, maximum: maxPage, default: 1 }),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
});

export const QueueBody = Type.Object({
  name: Type.String(),
  is_paused: Type.Boolean(),
  counts: Type.Record(Type.String(), Type.Integer(), {
    description:
      "number of jobs by state; of `delayed`, `retrying` wait for another attempt, `scheduled` for their first",
  }),
  oldest_waiting_seconds: Type.Unsafe<number | null>({
    ...{ type: ["integer", "null"], minimum: 0 },
    description: "age of the oldest waiting job since it was due; null if none waits",
  }),
});
export type QueueBody = Static<typeof QueueBody>;

/** A job as operators see it: personal data and secrets are masked (OPS-03). */
export const JobBody = Type.Object({
  id: Type.String(),
  queue: Type.String(),
  state: Type.String(),
  data: Type.Unknown(),
  num_attempts: Type.Integer(),
  max_attempts: Type.Integer(),
  created_at: Timestamp,
  due_at: orNull(Timestamp),
  started_at: orNull(Timestamp),
  finished_at: orNull(Timestamp),
  failed_reason: orNull(Type.String()),
  stack_traces: Type.Array(Type.String()),
  result: Type.Unknown(),
});
export type JobBody = Static<typeof JobBody>;
