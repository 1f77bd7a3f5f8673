import { assembleJobs } from "../../server/app/assemble.ts";
import { loadConfig } from "../../server/platform/config/config.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { createMetrics } from "../../server/platform/metrics/metrics.ts";
import { startJobs } from "../../workers/jobs.ts";
import { failureSteps, processors } from "../../workers/processors/index.ts";

/** A job worker that only moderates avatars, for tests that kill it. */
const config = loadConfig();
const ground = { config, log: silentLogger, metrics: createMetrics() };
const { deps } = await assembleJobs(ground);
await startJobs({
  redisUrl: config.REDIS_URL,
  log: silentLogger,
  metrics: ground.metrics,
  processors: { "avatar-moderation": processors["avatar-moderation"] },
  failureSteps,
  depsOf: () => ({ ...deps }),
  // The death of a worker is noticed when its lock expires: by default after half a minute.
  lockMs: 2_000,
});
process.on("disconnect", () => process.exit(0));
process.send?.("ready");
