import type { AnyRoute, Route } from "../http/pipeline/route.ts";
import { isOperatorRoute } from "../http/pipeline/route.ts";
import { createNodeServer, type NodeServer, type NodeServerOptions } from "../http/node/server.ts";
import { operatorListener } from "./listener.ts";
import type { OutageWatch } from "./outages/watch.ts";
import { OperatorAuthorizer } from "./session/authorizer.ts";
import type { SessionDeps } from "./session/routes.ts";

export interface OperatorServerOptions<D extends SessionDeps> extends Omit<
  NodeServerOptions,
  "routes" | "listener" | "deps"
> {
  /** Settings and stores of the pipeline. */
  base: NodeServerOptions["deps"];
  /** What the handlers take. */
  deps: D;
  routes: readonly Route<D>[];
  outages: OutageWatch;
}

/** The operator listener: few people use it, so it is served by `node:http` in its own process (OPS-01, OPS-06). */
export function createOperatorServer<D extends SessionDeps>({
  base,
  deps,
  routes,
  log,
  outages,
}: OperatorServerOptions<D>): NodeServer {
  // Guard: a route of players would be open to everybody who reaches the listener.
  const misplaced = (routes as readonly AnyRoute[]).find((route) => !isOperatorRoute(route));
  if (misplaced) throw new Error(`${misplaced.path} belongs to the public listener`);
  const authorizer = new OperatorAuthorizer(deps.identities, deps.loginFailures);
  return createNodeServer({
    deps: base,
    routes,
    log,
    listener: operatorListener({ authorizer, deps, outages, provider: deps.oidc?.label ?? null }),
  });
}
