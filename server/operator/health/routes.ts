import Type from "typebox";
import { bytesReply, media, reply, routesWith } from "../../http/pipeline/route.ts";
import { readiness, Readiness, type ReadinessDeps } from "./readiness.ts";

export interface HealthDeps extends ReadinessDeps {
  /** Prometheus text, summed over all processes. */
  metricsText(): Promise<string>;
}

const defineRoute = routesWith<HealthDeps>();
const tag = "Operator";
const metricsType = "text/plain; version=0.0.4; charset=utf-8";

/** Health checks for machines; responses contain no more than necessary (OPS-04). */
export const healthRoutes = [
  defineRoute({
    method: "GET",
    path: "/live",
    summary: "200 while the operator process runs",
    tag,
    auth: "open",
    source: "OPS-04",
    responses: { 200: Type.Object({ status: Type.String() }) },
    errors: [],
    handler: () => reply(200, { status: "ok" }),
  }),
  defineRoute({
    method: "GET",
    path: "/ready",
    summary: "200 if every process and store responds, else 503",
    tag,
    auth: "open",
    source: "OPS-04",
    responses: { 200: Readiness, 503: Readiness },
    errors: [],
    handler: async ({ deps }) => {
      const body = await readiness(deps);
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
