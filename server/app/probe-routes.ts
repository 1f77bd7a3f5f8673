import { probeReply } from "../http/pipeline/probe-reply.ts";
import { media, routesWith } from "../http/pipeline/route.ts";
import type { Config } from "../platform/config/config.ts";
import type { ProbeAnswers } from "../platform/probes.ts";

const defineRoute = routesWith<object>();

/**
 * The probes of the public listener, at the configured paths (BOOT-11). They answer with the state that the primary
 * has sent to this worker.
 */
export function probeRoutes(
  config: Pick<Config, "PUBLIC_LIVE_PATH" | "PUBLIC_READY_PATH">,
  current: () => ProbeAnswers,
) {
  const paths = { live: config.PUBLIC_LIVE_PATH, ready: config.PUBLIC_READY_PATH } as const;
  const names = (["live", "ready"] as const).filter((name) => paths[name] !== "off");
  return names.map((name) =>
    defineRoute({
      method: "GET",
      path: paths[name],
      summary: name === "live" ? "Whether the service runs" : "Whether the service takes requests",
      tag: "System",
      auth: "public",
      source: "BOOT-11",
      rare: { isProbe: true },
      responses: { 200: media("text/plain"), 503: media("text/plain") },
      errors: [],
      handler: () => probeReply(current()[name]),
    }),
  );
}
