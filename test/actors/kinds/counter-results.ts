import Type from "typebox";
import { defineQueue } from "../../../workers/queues.ts";

/** The result of a counter. */
export const counterResults = defineQueue({
  name: "counter-results",
  payload: Type.Object({ code: Type.String(), count: Type.Integer() }),
  jobId: ({ code }) => `counter-${code}`,
  options: { attempts: 3 },
  concurrency: 1,
});
