import { pino, type DestinationStream, type Logger as PinoLogger } from "pino";
import type { Config } from "./config.ts";
import { thinComplaints } from "./thinned-log.ts";

export type Logger = PinoLogger;

/** Keys whose values never reach a log line, wherever an object is logged (promise S27). */
const secretKeys = [
  "password",
  "new_password",
  "current_password",
  "token",
  "access_token",
  "refresh_token",
  "reclaim_token",
  "reclaimToken",
  "player_token",
  "passport",
  "code",
  "email",
  "phone",
  "authorization",
  "cookie",
  "set-cookie",
  "x-lobby-token",
  "x-api-key",
];

const buffered = { dest: 1, sync: false, minLength: 16_000, periodicFlush: 500 };

/** One JSON object per line on standard output, buffered; `flushLogs` runs before exit. */
export function createLogger(
  config: Config,
  process: string,
  destination: DestinationStream = pino.destination(buffered),
): Logger {
  const level = config.LOG_LEVEL || (config.APP_ENV === "development" ? "warn" : "info");
  return pino(
    {
      level,
      base: { process },
      hooks: thinComplaints(),
      redact: {
        paths: secretKeys.flatMap((key) => [`["${key}"]`, `*["${key}"]`]),
        censor: "[redacted]",
      },
    },
    destination,
  );
}

export const silentLogger: Logger = pino({ level: "silent" });
