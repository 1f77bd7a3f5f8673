import { createOrm } from "../../db/orm.ts";
import { parseConfig } from "../../server/platform/config/config.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { createModerator } from "../../server/features/avatars/domain/moderator.ts";
import { createPictureStore } from "../../server/features/avatars/domain/create-picture-store.ts";
import { createLeaderboards } from "../../server/features/leaderboards/domain/leaderboards.ts";
import { createResponseCache } from "../../server/platform/cache/response-cache.ts";
import { createMetrics } from "../../server/platform/metrics/metrics.ts";
import { connectRedis, redisReady } from "../../server/platform/redis/redis.ts";
import { systemClock } from "../../server/platform/time/clock.ts";
import type { JobDeps } from "../../server/app/deps.ts";
import { createQuestionBank } from "../../server/features/questions/providers/question-bank/index.ts";
import type { QuestionModel } from "../../server/features/questions/providers/question-model.ts";
import { startJobs } from "../../workers/jobs.ts";
import { createQueues } from "../../workers/producer.ts";
import { createSenders } from "../../server/features/delivery/providers/senders.ts";
import { generateQuestions } from "../../workers/processors/question-generation.ts";
import { testStores } from "./stores.ts";

export interface QuestionJobs {
  deps: JobDeps;
  /** What the jobs ask from now on. */
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
  const deps: JobDeps = {
    config,
    log,
    metrics,
    redis,
    orm,
    clock: systemClock,
    bodies: createResponseCache(),
    leaderboards: createLeaderboards({
      redis,
      em: () => orm.em.fork(),
      clock: systemClock,
      log,
      metrics,
    }),
    get em() {
      return orm.em.fork();
    },
    get questionModel() {
      return model;
    },
    questionBank,
    senders: createSenders(config, log),
    pictureStore: createPictureStore(config),
    moderator: createModerator(config, log),
    enqueue: queues.enqueue.bind(queues),
    enqueueAndWait: queues.enqueueAndWait.bind(queues),
  };
  const processors = { "question-generation": generateQuestions };
  const jobs = await startJobs({
    redisUrl: config.REDIS_URL,
    log,
    metrics,
    processors,
    depsOf: () => deps,
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
