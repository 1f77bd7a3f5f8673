import type { OperatorRoute } from "./exchange.ts";

/** OpenAPI 3.1 of the operator listener (BOOT-04); the queue board has its own page and is left out. */
export function operatorOpenApi(routes: readonly OperatorRoute[]): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes)
    (paths[route.path] ??= {})[route.method.toLowerCase()] = operation(route);
  return {
    openapi: "3.1.0",
    info: { title: "emberline operator", version: "1" },
    paths,
    components: {
      securitySchemes: {
        token: { type: "http", scheme: "bearer", description: "operator token" },
        browser: { type: "apiKey", in: "cookie", name: "operator" },
      },
    },
  };
}

function operation(route: OperatorRoute): object {
  const isOpen = route.access === "open" || route.access === "local";
  const content = {
    [route.type]: {
      schema: route.type === "application/json" ? { type: "object" } : { type: "string" },
    },
  };
  return {
    summary: route.summary,
    operationId: `${route.method.toLowerCase()}${route.path.replace(/[^a-z]+(.)/g, (_all, next: string) => next.toUpperCase()).replace(/\W/g, "")}`,
    security: isOpen ? [] : [{ token: [] }, { browser: [] }],
    responses: {
      200: { description: "OK", content },
      ...(isOpen
        ? {}
        : {
            401: { description: "No valid operator token" },
            403: { description: "The role does not allow it" },
          }),
      429: { description: "Too many failed logins; see Retry-After" },
    },
  };
}
