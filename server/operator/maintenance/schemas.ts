import Type from "typebox";
import { maxMaintenanceText, maxRetryAfter } from "../../features/rooms/domain/maintenance.ts";
import { Timestamp } from "../../platform/schemas.ts";
import { ReasonBody } from "../schemas.ts";

export const defaultText = "New games are paused for maintenance. Games that run go on.";
/** Seconds. */
export const defaultRetryAfter = 300;

const Text = Type.String({
  ...{ minLength: 1, maxLength: maxMaintenanceText, pattern: "\\S" },
  description: "what players read",
});
const RetryAfter = Type.Integer({
  ...{ minimum: 1, maximum: maxRetryAfter },
  description: "seconds, for the header Retry-After",
});

export const MaintenanceBody = Type.Object({
  text: Text,
  retry_after: RetryAfter,
  since: Timestamp,
});
export const TurnOnBody = Type.Object({
  ...ReasonBody.properties,
  text: Type.Optional(Type.String({ ...Text, default: defaultText })),
  retry_after: Type.Optional(Type.Integer({ ...RetryAfter, default: defaultRetryAfter })),
});
