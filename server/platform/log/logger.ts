import { pino, type DestinationStream, type Logger as PinoLogger } from "pino";
import type { Config } from "../config/config.ts";
import { serviceId } from "../config/service-id.ts";
import { serviceVersion } from "../version.ts";
import { openLogOutput } from "./log-output.ts";
import { hideSecrets } from "./redaction.ts";
import { sampleRepeatedLines } from "./log-sampling.ts";

export type Logger = PinoLogger;

/**
 * One JSON object per line on standard output, at most 50 ms late. Each names the process, the start of the service
 * that it belongs to (`instance`), and the version.
 */
export function createLogger(
  config: Pick<Config, "APP_ENV" | "LOG_LEVEL">,
  process: string,
  destination: DestinationStream = openLogOutput(),
): Logger {
  const level = config.LOG_LEVEL || (config.APP_ENV === "development" ? "warn" : "info");
  return pino(
    {
      level,
      base: { process, instance: serviceId, version: serviceVersion },
      hooks: sampleRepeatedLines(),
      formatters: { log: hideSecrets },
    },
    destination,
  );
}

/** Milliseconds that an exiting process waits for the stdout consumer. */
const lastLinesMs = 2_000;

/** Resolves when all lines are written, or after `limitMs`. */
export function flushLog(log: Logger, limitMs = lastLinesMs): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, limitMs);
    log.flush(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

export const silentLogger: Logger = pino({ level: "silent" });
