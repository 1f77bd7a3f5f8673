import Type, { type Static } from "typebox";
import { groupIdPattern, occurrenceKinds } from "../../platform/faults/grouping.ts";
import { Timestamp } from "../../platform/schemas.ts";
import { orNull } from "../schemas.ts";

export const maxNote = 2_000;
export const maxReason = 500;
export const maxMore = 1_000_000_000;
/** A year. */
export const maxHours = 8_760;

const Count = Type.Integer({ minimum: 0 });
const OptionalCount = Type.Unsafe<number | null>({ type: ["integer", "null"] });

export const FailureParams = Type.Object({ id: Type.String({ pattern: groupIdPattern }) });
export const FailuresQuery = Type.Object({
  state: Type.Optional(Type.Enum(["open", "ignored", "resolved"])),
});

const Example = Type.Object({
  at: Timestamp,
  text: Type.String(),
  stack: Type.String(),
  request_id: orNull(Type.String()),
  player_id: OptionalCount,
  room: orNull(Type.String()),
  job: Type.Union([
    Type.Object({ queue: Type.String(), id: Type.String(), attempt: Count }),
    Type.Null(),
  ]),
  process: Type.String({ description: "role, index and instance id of the process" }),
});

export const FailureBody = Type.Object({
  id: Type.String(),
  kind: Type.Enum([...occurrenceKinds]),
  place: Type.String({ description: "queue, route, or name of the work that fell back" }),
  code: orNull(Type.String()),
  peer: orNull(Type.String()),
  status: OptionalCount,
  name: orNull(Type.String()),
  text: orNull(Type.String()),
  source: orNull(Type.String()),
  state: Type.Enum(["open", "ignored", "resolved", "unknown"]),
  state_by: orNull(Type.String()),
  state_at: orNull(Timestamp),
  ignored_until: orNull(Timestamp),
  ignored_more: OptionalCount,
  note: orNull(Type.String()),
  note_by: orNull(Type.String()),
  note_at: orNull(Timestamp),
  first_seen_at: Timestamp,
  last_seen_at: Timestamp,
  num_occurrences: Count,
  num_last_hour: Count,
  num_last_day: Count,
  num_players: Type.Integer({ minimum: 0, description: "about; differs by up to one percent" }),
  num_failed_jobs: Type.Integer({ minimum: 0, description: "jobs listed as failed now" }),
  failed_jobs_since: Type.Unsafe<string | null>({
    ...orNull(Timestamp),
    description: "jobs that failed before are not counted any more; null if all are",
  }),
  example: Type.Union([Example, Type.Null()]),
});
export type FailureBody = Static<typeof FailureBody>;

export const FailuresBody = Type.Object({
  failures: Type.Array(FailureBody),
  has_states: Type.Boolean({ description: "false: Postgres does not respond" }),
  older_than: orNull(Timestamp),
  failed_jobs_since: orNull(Timestamp),
  num_dropped: Type.Integer({ description: "occurrences that were not recorded" }),
});

export const FailureDetail = Type.Object({
  ...FailureBody.properties,
  period_seconds: Count,
  periods_from: Timestamp,
  periods: Type.Array(Count, {
    description: "occurrences of the last 24 hours, oldest period first",
  }),
});

export const StateBody = Type.Object({
  state: Type.Enum(["open", "ignored", "resolved"]),
  /** Only with `ignored`. */
  until: Type.Optional(Type.String({ format: "date-time" })),
  /** Instead of `until`. */
  hours: Type.Optional(Type.Integer({ minimum: 1, maximum: maxHours })),
  more: Type.Optional(Type.Integer({ minimum: 1, maximum: maxMore })),
  reason: Type.String({ minLength: 1, maxLength: maxReason, pattern: "\\S" }),
});
/** An empty note removes it. */
export const NoteBody = Type.Object({ note: Type.String({ maxLength: maxNote }) });
