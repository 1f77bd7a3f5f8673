import Type, { type Static } from "typebox";
import { Timestamp } from "../../platform/schemas.ts";
import { FailureBody } from "../failures/schemas.ts";
import { JobBody, orNull, QueueBody } from "../schemas.ts";

const Count = Type.Integer({ minimum: 0 });
const Ms = Type.Integer({ minimum: 0 });

/** Milliseconds; each differs from the exact one by at most 10 %. */
export const PercentilesBody = Type.Union([
  Type.Object({ p50: Ms, p95: Ms, p99: Ms }),
  Type.Null(),
]);
export type PercentilesBody = Static<typeof PercentilesBody>;

const ended = {
  num_completed: Count,
  num_failed: Count,
  num_retried: Type.Integer({
    minimum: 0,
    description: "failed attempts that another one follows",
  }),
  wait_ms: Type.Unsafe<PercentilesBody>({
    ...PercentilesBody,
    description: "from the due time of an attempt to its start; null if none is known",
  }),
  run_ms: PercentilesBody,
};

export const PeriodBody = Type.Object({ at: Timestamp, ...ended });
export type PeriodBody = Static<typeof PeriodBody>;

export const QueueWithTimes = Type.Object({
  ...QueueBody.properties,
  last_hour: Type.Union([
    Type.Object({ ...ended, jobs_per_minute: Type.Number({ minimum: 0 }) }),
    Type.Null(),
  ]),
});
export type QueueWithTimes = Static<typeof QueueWithTimes>;

export const QueuesBody = Type.Object({
  queues: Type.Union([Type.Array(QueueWithTimes), Type.Null()], {
    description: "null if their store does not respond",
  }),
});

const spans = ["hour", "day", "month"] as const;

export const QueueQuery = Type.Object({ span: Type.Enum([...spans], { default: "hour" }) });

export const QueueDetail = Type.Object({
  queue: QueueBody,
  span: Type.Enum([...spans]),
  step_seconds: Count,
  jobs_per_minute: Type.Number({ minimum: 0 }),
  total: PeriodBody,
  periods: Type.Array(PeriodBody, { description: "oldest first; the last one contains now" }),
  failures: Type.Union([Type.Array(FailureBody), Type.Null()], {
    description: "groups of failures of this queue; null if they cannot be read",
  }),
});

export const JobDetail = Type.Object({
  ...JobBody.properties,
  attempts: Type.Array(Type.String(), {
    description: "a line for each failed attempt: time, process, duration, fault",
  }),
  progress: Type.Unknown(),
  request_id: orNull(Type.String()),
  failure_id: orNull(Type.String({ description: "group of its failure" })),
});
export type JobDetail = Static<typeof JobDetail>;
