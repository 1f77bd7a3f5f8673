import { noFaults } from "../../server/platform/faults/recorder.ts";
import { createOrm } from "../../db/orm.ts";
import { parseConfig } from "../../server/platform/config/config.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { createResponseCache } from "../../server/platform/cache/response-cache.ts";
import { createMetrics } from "../../server/platform/metrics/metrics.ts";
import { connectRedis, redisReady } from "../../server/platform/redis/redis.ts";
import { systemClock } from "../../server/platform/time/clock.ts";
import { noRequests } from "../../server/platform/requests/tracker.ts";
import type { WithMetrics, WithRequests } from "../../server/platform/capabilities.ts";
import type { QuestionDeps } from "../../server/features/questions/deps.ts";
import { createQuestionBank } from "../../server/features/questions/providers/question-bank/index.ts";
import type { QuestionModel } from "../../server/features/questions/providers/question-model.ts";
import { startJobs } from "../../workers/jobs.ts";
import { createQueues } from "../../workers/producer.ts";
import { generateQuestions } from "../../workers/processors/question-generation.ts";
import { testStores } from "./stores.ts";
import { noOrigin, withOrigin } from "../../server/platform/origin.ts";

/** Dependencies of drawing and generating questions, plus the metrics of a pipeline. */
export type QuestionJobDeps = QuestionDeps & WithMetrics & WithRequests;

export interface QuestionJobs {
  deps: QuestionJobDeps;
  /** The generator that jobs use from now on. */
  use(model: QuestionModel): void;
  stop(): Promise<void>;
}

/** Real stores with the question-generation queue and a worker of it in this process. */
export async function startQuestionJobs(): Promise<QuestionJobs> {
  const stores = await testStores();
  const config = parseConfig({ DATABASE_URL: stores.databaseUrl, REDIS_URL: stores.redisUrl });
  const log = silentLogger;
  const metrics = createMetrics();
  const orm = await createOrm(config);
  const redis = connectRedis(config.REDIS_URL, log, "test");
  await redisReady(redis);
  const queues = createQueues(config.REDIS_URL, log);
  let model: QuestionModel = createQuestionBank();
  const questionBank = createQuestionBank();
  const deps: QuestionJobDeps = {
    config,
    log,
    metrics,
    faults: noFaults,
    requests: noRequests,
    origin: noOrigin,
    redis,
    clock: systemClock,
    bodies: createResponseCache(),
    get em() {
      return orm.em.fork();
    },
    get questionModel() {
      return model;
    },
    questionBank,
    enqueue: queues.enqueue.bind(queues),
    enqueueAndWait: queues.enqueueAndWait.bind(queues),
  };
  const processors = { "question-generation": generateQuestions };
  const jobs = await startJobs({
    redisUrl: config.REDIS_URL,
    log,
    metrics,
    processors,
    depsOf: (origin) => withOrigin(deps, origin),
  });
  return {
    deps,
    use: (next) => {
      model = next;
    },
    stop: async () => {
      await jobs.close();
      await queues.close();
      redis.disconnect();
      await orm.close(true);
      await stores.stop();
    },
  };
}
