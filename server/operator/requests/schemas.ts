import Type, { type Static } from "typebox";
import { requestIdPattern } from "../../platform/origin.ts";
import { NullableTimestamp, Timestamp } from "../../platform/schemas.ts";
import { orNull } from "../schemas.ts";

const Count = Type.Integer({ minimum: 0 });
const OptionalCount = Type.Unsafe<number | null>({ type: ["integer", "null"] });
const OptionalText = orNull(Type.String());

export const RequestParams = Type.Object({ id: Type.String({ pattern: requestIdPattern }) });

const KeptRequestBody = Type.Object({
  at: Type.String({ ...Timestamp, description: "when it began" }),
  method: Type.String(),
  route: Type.String({ description: "pattern of the path" }),
  status: Type.Integer(),
  code: OptionalText,
  ms: Count,
  player_id: OptionalCount,
  room: OptionalText,
  process: Type.String({ description: "role, index and instance id of the process" }),
});

const JobOfRequestBody = Type.Object({
  queue: Type.String(),
  id: Type.String(),
  state: Type.String({ description: "removed: the queue no longer has the job" }),
  num_attempts: Count,
  max_attempts: Count,
  created_at: Timestamp,
  started_at: NullableTimestamp,
  finished_at: NullableTimestamp,
  failed_reason: OptionalText,
  result: Type.Unknown(),
  attempts: Type.Array(Type.String(), {
    description: "a line per failed attempt: time, process, duration, what failed",
  }),
  queued_by: Type.Unsafe<string | null>({
    type: ["string", "null"],
    description: "another request that queued the job first; this one waited for it",
  }),
});

const FailureOfRequest = Type.Object({
  id: Type.String({ description: "id of the group" }),
  kind: Type.String(),
  place: Type.String(),
  code: OptionalText,
  peer: OptionalText,
  status: OptionalCount,
  text: Type.String({ description: "words of the latest failure of the group" }),
  last_seen_at: Timestamp,
});

const MessageOfRequestBody = Type.Object({
  id: Type.Integer(),
  kind: Type.Enum(["mail", "sms"]),
  template: Type.String(),
  to: Type.String({ description: "masked" }),
  status: Type.String(),
  attempts: Count,
  last_error: OptionalText,
  created_at: Timestamp,
  sent_at: NullableTimestamp,
});

const ChangeOfRequest = Type.Object({
  at: Timestamp,
  operator: Type.String(),
  action: Type.String(),
  target: Type.String(),
  reason: Type.String(),
});

export const TimelineBody = Type.Object({
  id: Type.String(),
  requests: Type.Array(KeptRequestBody, {
    description: "several if a client used the id again; at most 20",
  }),
  jobs: Type.Array(JobOfRequestBody),
  failures: Type.Array(FailureOfRequest),
  messages: Type.Array(MessageOfRequestBody),
  changes: Type.Array(ChangeOfRequest, { description: "entries of the audit log" }),
  kept_since: NullableTimestamp,
  num_dropped: Type.Integer({ description: "entries of all requests that were not kept" }),
  has_requests: Type.Boolean({ description: "false: Redis does not respond" }),
  has_messages: Type.Boolean({ description: "false: Postgres does not respond" }),
});
export type TimelineBody = Static<typeof TimelineBody>;
