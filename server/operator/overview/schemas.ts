import Type, { type Static } from "typebox";
import { Timestamp } from "../../platform/schemas.ts";
import { orNull, QueueBody } from "../schemas.ts";
import { ProcessBody } from "../workers/processes.ts";

const OptionalCount = Type.Unsafe<number | null>({ type: ["integer", "null"] });

export const WrongBody = Type.Object({
  kind: Type.Enum(["store", "maintenance", "process", "fleet", "failure", "degraded", "queue"]),
  what: Type.String(),
  place: orNull(Type.String({ description: "queue, route or work of a group of failures" })),
  num_failed_jobs: OptionalCount,
  num_last_hour: OptionalCount,
  num_players: OptionalCount,
  since: orNull(Timestamp),
  path: Type.String({ description: "page with the details" }),
});
export type WrongBody = Static<typeof WrongBody>;

const Counts = Type.Array(Type.Integer(), { description: "oldest first" });

/** What is null is unknown, because its store does not respond. */
export const LastHour = Type.Object({
  jobs: Type.Union([
    Type.Object({ from: Timestamp, completed: Counts, failed: Counts, retried: Counts }),
    Type.Null(),
  ]),
  failures: Type.Union([Type.Object({ from: Timestamp, occurrences: Counts }), Type.Null()]),
  events: Type.Union(
    [
      Type.Array(Type.Object({ at: Timestamp, title: Type.String(), text: Type.String() })),
      Type.Null(),
    ],
    { description: "starts, exits, freezes, drains and takeovers of processes" },
  ),
});

export const OverviewBody = Type.Object({
  wrong: Type.Array(WrongBody, { description: "what an operator has to act on, first" }),
  last_hour: LastHour,
  stats: Type.Array(
    Type.Object({
      name: Type.String(),
      value: Type.String(),
      is_bad: Type.Boolean({ description: "an operator has to act" }),
    }),
  ),
  queues: Type.Union([Type.Array(QueueBody), Type.Null()], {
    description: "null if their store does not respond",
  }),
  processes: Type.Array(ProcessBody),
});
