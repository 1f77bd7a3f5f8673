import { App, us_listen_socket_close, type us_listen_socket } from "uWebSockets.js";
import { loadConfig } from "./core/config.ts";
import { createLogger } from "./core/logger.ts";
import { createMetrics } from "./core/metrics.ts";
import { joinPrimary } from "./ipc.ts";

/** Process entry of role `http`: serves the public port until the primary says stop. */
export async function startHttpWorker(): Promise<void> {
  const config = loadConfig();
  const log = createLogger(config, "http");
  const metrics = createMetrics();
  const app = App();
  app.any("/v1/health-check", (response) => {
    response.onAborted(() => {});
    response.end(JSON.stringify({ body: { status: "ok" } }));
  });
  const socket = await new Promise<us_listen_socket | false>((resolve) => {
    app.listen(config.HOST, config.PORT, resolve);
  });
  if (!socket) throw new Error(`${config.HOST}:${config.PORT} cannot be opened`);
  const link = joinPrimary({
    log,
    answers: { metrics: () => metrics.registry.getMetricsAsJSON() },
    stop: async () => {
      us_listen_socket_close(socket);
      app.close();
    },
  });
  link.ready();
}
