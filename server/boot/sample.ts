import type { Config } from "../core/config.ts";
import type { Logger } from "../core/logger.ts";

/** Leaves it to the job workers to import the sample game, in development (CFG-03). */
export async function askForSample(config: Config, log: Logger): Promise<void> {
  if (config.APP_ENV !== "development" || !config.SAMPLE_DATA) return;
  const { createQueues } = await import("../../workers/producer.ts");
  const { sampleData } = await import("../../workers/queues.ts");
  const queues = createQueues(config.REDIS_URL, log);
  await queues
    .enqueue(sampleData, { game: config.GAME_DATA_GAME, stamp: Date.now() })
    // The service does without it, and the next start asks again.
    .catch((error: unknown) => log.warn({ err: error }, "sample data"));
  await queues.close();
}
