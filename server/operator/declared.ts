import type { Route } from "../http/pipeline/route.ts";
import { operatorRoutes } from "./routes.ts";
import type { Sources } from "./deps.ts";

/** The route table for documents and tests; its handlers have no dependencies and are never called. */
export function declaredRoutes(): readonly Route<unknown>[] {
  const nothing = new Proxy({}, { get: () => undefined });
  return operatorRoutes(nothing as Sources);
}
