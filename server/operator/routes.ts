import { buildOpenApi } from "../http/openapi/openapi.ts";
import { bytesReply, media, routesWith, type Route } from "../http/pipeline/route.ts";
import { serviceVersion } from "../platform/version.ts";
import { auditLogRoutes } from "./audit-log/routes.ts";
import { avatarRoutes } from "./avatars/routes.ts";
import type { OperatorDeps } from "./deps.ts";
import { failureRoutes } from "./failures/routes.ts";
import { fleetRoutes } from "./fleet/routes.ts";
import { healthRoutes } from "./health/routes.ts";
import { importRoutes } from "./imports/routes.ts";
import { jobRoutes } from "./jobs/routes.ts";
import { maintenanceRoutes } from "./maintenance/routes.ts";
import { messageRoutes } from "./messages/routes.ts";
import { overviewRoutes } from "./overview/routes.ts";
import { playerRoutes } from "./players/routes.ts";
import { questionRoutes } from "./questions/routes.ts";
import { requestRoutes } from "./requests/routes.ts";
import { roomRoutes } from "./rooms/routes.ts";
import { searchRoutes } from "./search/routes.ts";
import { sessionRoutes } from "./session/routes.ts";
import { walletRoutes } from "./wallets/routes.ts";
import { workerRoutes } from "./workers/routes.ts";

const defineRoute = routesWith<OperatorDeps>();

const documentRoute = defineRoute({
  method: "GET",
  path: "/operator/openapi.json",
  summary: "This API as an OpenAPI 3.1 document",
  tag: "Operator",
  auth: "viewer",
  source: "BOOT-04",
  responses: { 200: media("application/json") },
  errors: [],
  handler: () => bytesReply(200, "application/json", JSON.stringify(operatorDocument())),
});

/** Every endpoint of the operator listener for programs. */
export const documentedRoutes: readonly Route<OperatorDeps>[] = [
  ...healthRoutes,
  ...overviewRoutes,
  ...searchRoutes,
  ...messageRoutes,
  ...walletRoutes,
  ...importRoutes,
  ...fleetRoutes,
  ...workerRoutes,
  ...maintenanceRoutes,
  ...roomRoutes,
  ...jobRoutes,
  ...failureRoutes,
  ...requestRoutes,
  ...auditLogRoutes,
  ...playerRoutes,
  ...avatarRoutes,
  ...questionRoutes,
  documentRoute,
];

/** Every route besides those of the queue board, which the process adds once it has the queues. */
export const operatorRoutes: readonly Route<OperatorDeps>[] = [
  ...documentedRoutes,
  ...sessionRoutes,
];

export function operatorDocument(): object {
  return buildOpenApi(documentedRoutes, { title: "emberline operator", version: serviceVersion });
}
