import Type from "typebox";
import { QueueBody } from "../schemas.ts";
import { ProcessBody } from "../workers/processes.ts";

export const OverviewBody = Type.Object({
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
