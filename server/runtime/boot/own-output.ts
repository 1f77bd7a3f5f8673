import type { Logger } from "../../platform/log/logger.ts";

/**
 * Logs what Node would print for the first process: its warnings, and the error that ends it (BOOT-42). What other
 * processes print is read by this one. Only V8's words at the end of its memory remain as they are.
 */
export function logOwnOutput(log: Logger): void {
  // Node's own listener is the one that prints.
  process.removeAllListeners("warning");
  process.on("warning", (warning) =>
    log.warn({ event: "node_warning", err: warning }, "Node warns, the service continues"),
  );
  process.on("uncaughtException", (error, origin) => {
    log.fatal({ event: "process_failed", origin, err: error }, "unexpected error, service ends");
    process.exit(1);
  });
}
