import { probeReply } from "../../http/pipeline/probe-reply.ts";
import { bytesReply, media, reply, routesWith } from "../../http/pipeline/route.ts";
import type { ProbeAnswers } from "../../platform/probes.ts";
import { Health, readHealth, type HealthSources } from "./health.ts";

export interface HealthDeps extends HealthSources {
  /** As the primary has published it. */
  probes(): ProbeAnswers;
  /** Prometheus text, summed over all processes. */
  metricsText(): Promise<string>;
}

const defineRoute = routesWith<HealthDeps>();
const tag = "Operator";
const metricsType = "text/plain; version=0.0.4; charset=utf-8";

/** Asked by an orchestrator or a balancer; on a new connection the primary answers itself (BOOT-11). */
const probe = (name: keyof ProbeAnswers, summary: string) =>
  defineRoute({
    method: "GET",
    path: `/${name}`,
    summary,
    tag,
    auth: "open",
    source: "OPS-04, BOOT-11",
    rare: { isProbe: true },
    responses: { 200: media("text/plain"), 503: media("text/plain") },
    errors: [],
    handler: ({ deps }) => probeReply(deps.probes()[name]),
  });

/** Health checks for machines; responses contain no more than necessary (OPS-04). */
export const healthRoutes = [
  probe("live", "503 if no HTTP worker has answered for 15 s"),
  probe("ready", "503 if this instance should get no requests; one word says why"),
  defineRoute({
    method: "GET",
    path: "/health",
    summary: "200 if every process and store responds, else 503; says what does not",
    tag,
    auth: "open",
    source: "BOOT-11",
    responses: { 200: Health, 503: Health },
    errors: [],
    handler: async ({ deps }) => {
      const body = await readHealth(deps);
      return body.status === "ok" ? reply(200, body) : reply(503, body);
    },
  }),
  defineRoute({
    method: "GET",
    path: "/metrics",
    summary: "Prometheus metrics, summed over all processes; without a token for this machine only",
    tag,
    auth: "local",
    source: "OPS-04",
    responses: { 200: media("text/plain") },
    errors: [],
    handler: async ({ deps }) => bytesReply(200, metricsType, await deps.metricsText()),
  }),
];
