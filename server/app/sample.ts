import { noOrigin } from "../platform/origin.ts";
import { sampleData } from "../../workers/queues.ts";
import type { JobDeps } from "./job-deps.ts";

/** Queues the import of the sample game for the job workers, in development (CFG-03). Never throws. */
export async function askForSample({
  config,
  log,
  enqueue,
}: Pick<JobDeps, "config" | "log" | "enqueue">): Promise<void> {
  if (config.APP_ENV !== "development" || !config.SAMPLE_DATA) return;
  try {
    await enqueue(sampleData, { game: config.GAME_DATA_GAME, stamp: Date.now() }, noOrigin);
  } catch (error) {
    // The service works without it, and the next start queues it again.
    log.warn(
      { event: "sample_import_not_queued", err: error },
      "sample data not imported, the next start tries again",
    );
  }
}
