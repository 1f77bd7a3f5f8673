import { sampleData } from "../../workers/queues.ts";
import type { JobDeps } from "./deps.ts";

/** Leaves it to the job workers to import the sample game, in development (CFG-03). Never throws. */
export async function askForSample({
  config,
  log,
  enqueue,
}: Pick<JobDeps, "config" | "log" | "enqueue">): Promise<void> {
  if (config.APP_ENV !== "development" || !config.SAMPLE_DATA) return;
  try {
    await enqueue(sampleData, { game: config.GAME_DATA_GAME, stamp: Date.now() });
  } catch (error) {
    // The service does without it, and the next start asks again.
    log.warn(
      { event: "sample_import_not_queued", err: error },
      "sample data not imported, the next start tries again",
    );
  }
}
