import { serviceVersion } from "../../platform/version.ts";
import { buildOpenApi } from "../../http/openapi/openapi.ts";
import {
  bytesReply,
  defineRoute,
  media,
  type AnyRoute,
  type Route,
} from "../../http/pipeline/route.ts";
import { withRecordLinks } from "./decisions-page.ts";
import { groups, guide } from "./openapi-guide.ts";

/** The document of these routes, with the introduction. */
export function publicDocument(routes: readonly AnyRoute[]): object {
  const info = { title: "emberline", version: serviceVersion, description: guide };
  const linked = routes.map((route) => ({ ...route, source: withRecordLinks(route.source) }));
  return buildOpenApi(linked, info, groups);
}

/**
 * `GET /openapi.json`: the document of the whole table (BOOT-04), built at the first request, since the table
 * includes this route. Tools read it, so it has no envelope.
 */
export function openApiRoute(listRoutes: () => readonly AnyRoute[]): Route<unknown> {
  let text: string | null = null;
  return defineRoute({
    method: "GET",
    path: "/openapi.json",
    summary: "This API as an OpenAPI 3.1 document",
    tag: "Pages",
    auth: "public",
    source: "BOOT-04",
    cache: "no-cache",
    responses: { 200: media("application/json") },
    errors: [],
    handler: () => {
      text ??= JSON.stringify(publicDocument(listRoutes()));
      return bytesReply(200, "application/json", text);
    },
  });
}
