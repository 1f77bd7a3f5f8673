import { ConfigError } from "../../platform/config/config.ts";
import { createLogger, flushLog } from "../../platform/log/logger.ts";
import { runPrimary } from "./primary.ts";

/** Runs the whole service until a signal; returns the exit code. */
export async function runService(): Promise<number> {
  try {
    return await runPrimary();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    if (error.isProduction) await logProblems(error);
    else process.stderr.write(`${error.message}\n`);
    return 1;
  }
}

/** In production the output has log lines only (BOOT-42); the settings of the log are among those in doubt. */
async function logProblems({ problems }: ConfigError): Promise<void> {
  const log = createLogger({ APP_ENV: "production", LOG_LEVEL: "" }, "primary");
  log.fatal({ event: "start_failed", problems }, "start failed: correct the settings in problems");
  await flushLog(log);
}
