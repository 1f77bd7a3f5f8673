import Type, { type Static } from "typebox";
import { Timestamp } from "../../platform/schemas.ts";
import { maxRate, usualRate } from "../../features/faults/domain/action-bounds.ts";
import { orNull } from "../schemas.ts";
import { FailureParams, maxReason } from "./schemas.ts";

const Count = Type.Integer({ minimum: 0 });
const maxNumber = 2_147_483_647;

export const PreviewQuery = Type.Object({ action: Type.Enum(["retry", "remove"]) });

export const PreviewBody = Type.Object({
  failure_id: Type.String(),
  action: Type.Enum(["retry", "remove"]),
  queue: Type.String(),
  num_jobs: Type.Integer({ minimum: 0, description: "jobs failed now, which would be taken" }),
  num_left_out: Type.Integer({ minimum: 0, description: "further ones, beyond the bound" }),
  oldest_failed_at: orNull(Timestamp),
  num_players: Type.Integer({ minimum: 0, description: "about; differs by up to one percent" }),
  effect: Type.String({ description: "what will happen" }),
});
export type PreviewBody = Static<typeof PreviewBody>;

const Reason = Type.String({
  minLength: 1,
  maxLength: maxReason,
  pattern: "\\S",
  description: "why, for the audit log",
});
export const RemoveBody = Type.Object({ reason: Reason });
export const RetryBody = Type.Object({
  reason: Reason,
  rate: Type.Integer({
    minimum: 1,
    maximum: maxRate,
    default: usualRate,
    description: "jobs a second, after the first ten",
  }),
});

export const ActionParams = Type.Object({
  ...FailureParams.properties,
  action: Type.Integer({ minimum: 1, maximum: maxNumber }),
});

export const ActionBody = Type.Object({
  id: Type.Integer(),
  failure_id: Type.String(),
  action: Type.Enum(["retry", "remove"]),
  queue: Type.String(),
  operator: Type.String(),
  reason: Type.String(),
  rate: Type.Integer({ description: "jobs a second" }),
  state: Type.Enum(["queued", "running", "done", "stopped", "cancelled", "failed"], {
    description: "stopped: the first ten failed again for the same cause",
  }),
  num_jobs: Type.Integer({ minimum: 0, description: "jobs that had failed when it was decided" }),
  num_left_out: Count,
  num_succeeded: Count,
  num_failed_again: Count,
  num_removed: Count,
  num_skipped: Type.Integer({ minimum: 0, description: "no longer failed, or failed anew" }),
  num_waiting: Type.Integer({ minimum: 0, description: "retried, without an outcome" }),
  num_left: Type.Integer({ minimum: 0, description: "not retried or removed" }),
  created_at: Timestamp,
  started_at: orNull(Timestamp),
  ended_at: orNull(Timestamp),
});
export type ActionBody = Static<typeof ActionBody>;
