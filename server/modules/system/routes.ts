import { defineRoute, reply, type AnyRoute } from "../../http/route.ts";
import { HealthBody } from "./schemas.ts";
import { readHealth } from "./service.ts";

const healthCheck = defineRoute({
  method: "GET",
  path: "/v1/health-check",
  summary: "Tell whether the service and its stores answer",
  tag: "System",
  auth: "public",
  source: "document 1, System; SYS-01, HTTP-13",
  responses: { 200: HealthBody },
  errors: ["system:database_unreachable"],
  handler: async ({ deps }) =>
    // Not the record's `cache`: that adds an ETag, and this body changes by the second.
    reply(200, await readHealth(deps), [["Cache-Control", "public, max-age=30"]]),
});

export const systemRoutes: AnyRoute[] = [healthCheck];
