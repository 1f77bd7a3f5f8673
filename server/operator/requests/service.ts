import type { MikroORM } from "@mikro-orm/postgresql";
import type { Queue } from "bullmq";
import type { FaultStore } from "../../platform/faults/store.ts";
import type { RequestStore } from "../../platform/requests/store.ts";
import type { RequestsDeps } from "./routes.ts";

export interface TimelineOptions {
  requests: RequestStore;
  faults: FaultStore;
  queues: readonly Queue[];
  open: () => Promise<MikroORM>;
}

/** Loads the queries at the first call, like the database layer. */
export const createTimelines = ({
  requests,
  faults,
  queues,
  open,
}: TimelineOptions): RequestsDeps => ({
  timelineOf: async (id) => {
    const { findTimeline } = await import("../../features/requests/domain/timeline.ts");
    const { readJob } = await import("../../features/requests/domain/job-reader.ts");
    const em = async () => (await open()).em.fork();
    return findTimeline({ requests, faults, em, readJob: (key) => readJob(queues, key) }, id);
  },
});
