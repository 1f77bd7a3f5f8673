import type { Config } from "../config/config.ts";

/**
 * Dedicated ports of the HTTP workers by slot, in addition to their shared port; empty if the setting is
 * off.
 */
export function workerPorts(config: Pick<Config, "WORKER_PORTS" | "HTTP_WORKERS">): number[] {
  const first = Number(config.WORKER_PORTS);
  if (!Number.isInteger(first)) return [];
  return Array.from({ length: config.HTTP_WORKERS }, (_, slot) => first + slot);
}
