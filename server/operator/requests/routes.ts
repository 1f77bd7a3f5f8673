import type { RequestTimeline } from "../../features/requests/domain/timeline.ts";
import { reply, routesWith } from "../../http/pipeline/route.ts";
import { timelinePage } from "./page.ts";
import { requestsPath } from "./paths.ts";
import { presentTimeline } from "./present.ts";
import { RequestParams, TimelineBody } from "./schemas.ts";

export interface RequestsDeps {
  /** Throws `request:not_kept`. */
  timelineOf(requestId: string): Promise<RequestTimeline>;
}

const defineRoute = routesWith<RequestsDeps>();

/** What is known of a request by its `X-Request-Id` (OPS-32). */
export const requestRoutes = [
  defineRoute({
    method: "GET",
    path: `${requestsPath}/{id}`,
    tag: "Operator",
    summary: "A request by its X-Request-Id: its jobs, attempts, failures, messages and changes",
    auth: "viewer",
    source: "OPS-32",
    params: RequestParams,
    notFoundCode: "request:not_kept",
    responses: { 200: TimelineBody },
    page: timelinePage,
    errors: ["request:not_kept"],
    handler: async ({ deps, params }) =>
      reply(200, presentTimeline(await deps.timelineOf(params.id))),
  }),
];
