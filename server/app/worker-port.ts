import type { HttpServer } from "../http/uws/server.ts";
import type { Config } from "../platform/config/config.ts";
import { workerPorts } from "../platform/net/worker-ports.ts";
import type { Logger } from "../platform/log/logger.ts";

/**
 * Listens on the dedicated port of this worker's slot; a restarted worker gets the same slot. Returns null
 * without dedicated ports, or if another program uses the port.
 */
export async function listenDedicated(
  server: Pick<HttpServer, "listenDedicated">,
  { config, log }: { config: Pick<Config, "WORKER_PORTS" | "HTTP_WORKERS" | "HOST">; log: Logger },
  index: number,
): Promise<number | null> {
  const port = workerPorts(config)[index];
  if (port === undefined) return null;
  try {
    await server.listenDedicated(config.HOST, port);
    return port;
  } catch (error) {
    log.error(
      { event: "worker_port_unavailable", host: config.HOST, port, index, reason: String(error) },
      "worker port not available, worker serves on PORT only; free the port or change WORKER_PORTS",
    );
    return null;
  }
}
