import type { Route } from "../http/pipeline/route.ts";
import { operatorRoutes } from "./routes.ts";
import type { Sources } from "./sources.ts";

/** The table for documents and tests: its handlers have nothing to ask and are never called. */
export function declaredRoutes(): readonly Route<unknown>[] {
  const nothing = new Proxy({}, { get: () => undefined });
  return operatorRoutes(nothing as Sources);
}
