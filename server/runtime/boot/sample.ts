import type { Config } from "../../platform/config/config.ts";
import type { Logger } from "../../platform/log/logger.ts";

/** Leaves it to the job workers to import the sample game, in development (CFG-03). Never throws. */
export async function askForSample(config: Config, log: Logger): Promise<void> {
  if (config.APP_ENV !== "development" || !config.SAMPLE_DATA) return;
  try {
    const { createQueues } = await import("../../../workers/producer.ts");
    const { sampleData } = await import("../../../workers/queues.ts");
    const queues = createQueues(config.REDIS_URL, log);
    const payload = { game: config.GAME_DATA_GAME, stamp: Date.now() };
    await queues.enqueue(sampleData, payload).finally(() => queues.close());
  } catch (error) {
    // The service does without it, and the next start asks again.
    log.warn(
      { event: "sample_import_not_queued", err: error },
      "sample data not imported, the next start tries again",
    );
  }
}
