import { createOrm } from "../db/orm.ts";
import { systemClock } from "../server/core/clock.ts";
import { loadConfig } from "../server/core/config.ts";
import { createLogger } from "../server/core/logger.ts";
import { createMetrics } from "../server/core/metrics.ts";
import { connectRedis } from "../server/core/redis.ts";
import type { JobDeps } from "../server/deps.ts";
import { joinPrimary } from "../server/ipc.ts";
import { createQuestionBank } from "../server/providers/question-bank/index.ts";
import { startJobs } from "./jobs.ts";
import { processors } from "./processors/index.ts";
import { createQueues } from "./producer.ts";

/** Process entry of role `jobs`: one worker per queue, until the primary says stop. */
export async function startJobWorker(): Promise<void> {
  const config = loadConfig();
  const log = createLogger(config, "jobs");
  const metrics = createMetrics();
  const redis = connectRedis(config.REDIS_URL, log, "jobs");
  const queues = createQueues(config.REDIS_URL, log);
  const orm = await createOrm(config);
  const shared = {
    config,
    log,
    clock: systemClock,
    metrics,
    redis,
    orm,
    questionModel: createQuestionBank(),
    enqueue: queues.enqueue,
    enqueueAndWait: queues.enqueueAndWait,
  };
  const depsOf = (): JobDeps => ({ ...shared, em: orm.em.fork() });
  const jobs = await startJobs({ redisUrl: config.REDIS_URL, log, metrics, processors, depsOf });
  const link = joinPrimary({
    log,
    answers: { metrics: () => metrics.registry.getMetricsAsJSON() },
    stop: async () => {
      await jobs.close();
      await queues.close();
      redis.disconnect();
      await orm.close(true);
    },
  });
  link.ready();
}
