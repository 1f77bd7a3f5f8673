import { assembleJobs } from "../server/app/assemble.ts";
import { askForSample } from "../server/app/sample.ts";
import { loadConfig } from "../server/platform/config/config.ts";
import { serviceVersion } from "../server/platform/version.ts";
import { createInstance, nameOfInstance } from "../server/platform/instance.ts";
import { BatchingJobTimes } from "../server/platform/job-times/recorder.ts";
import { createLogger } from "../server/platform/log/logger.ts";
import { loadReader } from "../server/platform/metrics/load.ts";
import { createMetrics } from "../server/platform/metrics/metrics.ts";
import { reportMetrics } from "../server/platform/metrics/report.ts";
import { keepEvents } from "../server/features/processes/domain/keep-events.ts";
import { openTracer } from "../server/platform/tracing/open-tracer.ts";
import { joinPrimary, type StartOrder } from "../server/runtime/ipc.ts";
import { createJobTimes } from "./job-times.ts";
import { startJobs } from "./jobs.ts";
import { registerSchedules } from "./schedules.ts";
import { failureSteps, processors } from "./processors/index.ts";
import { type Origin } from "../server/platform/origin.ts";

/** Process entry of role `jobs`: runs one worker per queue until the primary sends a stop. */
export async function startJobWorker({ index }: Pick<StartOrder, "index">): Promise<void> {
  const config = loadConfig();
  const log = createLogger(config, "jobs");
  const metrics = createMetrics("job");
  const instance = createInstance({ role: "jobs", index, version: serviceVersion });
  const tracer = await openTracer({ config, instance, log, metrics });
  const { deps, queues, close } = await assembleJobs({ config, log, metrics, instance, tracer });
  const { clock, redis } = deps;
  const store = createJobTimes(redis, clock);
  const times = new BatchingJobTimes({ store, instance, clock, log, metrics });
  const jobs = await startJobs({
    redisUrl: config.REDIS_URL,
    log,
    metrics,
    processors,
    failureSteps,
    faults: deps.faults,
    times,
    tracer,
    workerName: nameOfInstance(instance),
    // The getter of `em` creates a fork for each job.
    depsOf: (origin: Origin) => ({ ...deps, origin }),
  });
  const endSchedules = await registerSchedules(queues, log);
  const readLoad = loadReader(metrics);
  const link = joinPrimary({
    log,
    answers: {
      metrics: (names) => reportMetrics(metrics.registry, names),
      figures: async () => ({
        process: instance.id,
        ...(await readLoad()),
        ...{ numStreams: 0, numRooms: 0 },
      }),
      events: (events) => keepEvents(deps, events),
      moderation: () => deps.moderator.state(),
    },
    stop: async () => {
      endSchedules();
      await jobs.close();
      await times.stop();
      await close();
    },
  });
  link.ready(instance);
  // Loaded late, because other processes wait for the earlier steps.
  void askForSample(deps);
}
