import assert from "node:assert/strict";
import { callRoute, createApi } from "../../../server/operator/api.ts";
import type { AnyRoute } from "../../../server/http/pipeline/route.ts";

/** Calls a GET route of the operator listener without the listener; rejects with its refusal. */
export async function callRouteOf<Body>(
  routes: readonly AnyRoute[],
  target: string,
): Promise<Body> {
  const [path = "", query = ""] = target.split("?");
  const match = createApi(routes).match("GET", path);
  assert.ok(match?.entry, path);
  const { content } = await callRoute(match.entry, match.params, {
    ...{ method: "GET", path, query, headers: {}, ip: "127.0.0.1" },
    ...{ body: Buffer.alloc(0), operator: null },
  });
  assert.equal(content.kind, "json");
  return (content.kind === "json" ? content.body : null) as Body;
}
