import assert from "node:assert/strict";
import { test } from "node:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import { silentLogger } from "../../../server/platform/log/logger.ts";
import type { HttpDeps } from "../../../server/http/deps.ts";
import type { AnyRoute, Route } from "../../../server/http/pipeline/route.ts";
import { buildOpenApi } from "../../../server/http/openapi/openapi.ts";
import { createHttpServer } from "../../../server/http/uws/server.ts";
import { documentedRoutes, operatorRoutes } from "../../../server/operator/routes.ts";
import { createOperatorServer } from "../../../server/operator/server.ts";
import { maskData } from "../../../server/platform/text/masking.ts";
import { routes } from "../../../server/app/routes.ts";

const decided = [
  "GET /operator/queues",
  "GET /operator/queues/{queue}/jobs",
  "GET /operator/jobs/{queue}/{id}",
  "POST /operator/jobs/{queue}/{id}/retry",
  "POST /operator/jobs/{queue}/{id}/remove",
  "POST /operator/queues/{queue}/pause",
  "POST /operator/queues/{queue}/resume",
  "POST /operator/queues/{queue}/retry-failed",
  "GET /operator/lobbies",
  "GET /operator/rooms",
  "GET /operator/rooms/{kind}",
  "GET /operator/rooms/{kind}/{code}",
  "GET /operator/workers",
  "GET /operator/players/{id}",
  "POST /operator/players/{id}/unlock",
  "POST /operator/players/{id}/restore",
  "POST /operator/players/{id}/revoke-sessions",
  "GET /operator/outbox",
  "GET /metrics",
  "GET /live",
  "GET /ready",
  "GET /health",
];

interface Operation {
  operationId: string;
  servers?: { url: string }[];
  security: object[];
}

const documentOf = (table: readonly AnyRoute[]) =>
  JSON.parse(JSON.stringify(buildOpenApi(table, { title: "Test", version: "1" }))) as {
    paths: Record<string, Record<string, Operation>>;
  };

test("every specified endpoint of the operator listener is declared", () => {
  const declared = documentedRoutes.map(({ method, path }) => `${method} ${path}`);
  assert.deepEqual(
    decided.filter((key) => !declared.includes(key)),
    [],
  );
});

test("the document of both listeners is valid and names the operator server and its credentials", async () => {
  const document = documentOf([...routes, ...documentedRoutes]);
  const result = await new Validator().validate({ ...document });
  assert.deepEqual(result.errors ?? [], []);
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
  assert.equal(new Set(operations.map((one) => one.operationId)).size, operations.length);
  for (const { method, path, auth } of documentedRoutes) {
    const operation = document.paths[path]?.[method.toLowerCase()];
    assert.ok(operation, path);
    assert.ok(operation.servers?.[0]?.url.endsWith(":9090"), path);
    const credentials = JSON.stringify(operation.security);
    assert.equal(credentials.includes("operatorToken"), auth !== "open", path);
    assert.ok(!credentials.includes('"bearer"'), path);
  }
});

test("neither listener serves a route of the other", () => {
  assert.ok(!Object.keys(documentOf(routes).paths).some((path) => path.startsWith("/operator")));
  const deps = {} as HttpDeps;
  for (const route of operatorRoutes as readonly Route<never>[])
    assert.throws(
      () => createHttpServer({ deps, routes: [route as Route<HttpDeps>], log: silentLogger }),
      /operator listener/,
    );
  const nothing = {} as never;
  const given = { base: nothing, deps: nothing, outages: nothing, log: silentLogger };
  for (const route of routes as readonly Route<never>[])
    assert.throws(() => createOperatorServer({ ...given, routes: [route] }), /public listener/);
});

test("personal and secret job data is masked, and the rest is not", () => {
  const masked = maskData({
    messageId: 7,
    category: "science",
    email: "ada@example.com",
    note: "to ada@example.com, code 123456, call +4915112345678",
    nested: [{ accessToken: "x" }, { url: "redis://user:pass@host" }],
    jwt: "see eyJhbGciOi.eyJzdWIi.c2ln",
    code: "ABC234",
  });
  assert.deepEqual(masked, {
    messageId: 7,
    category: "science",
    email: "***",
    note: "to ***@***, code ***, call ***",
    nested: [{ accessToken: "***" }, { url: "redis://***@host" }],
    jwt: "see ***",
    code: "ABC234",
  });
});

test("masking is bounded in depth, entries and length", () => {
  let deep: unknown = "end";
  for (let i = 0; i < 50; i++) deep = { deep };
  assert.ok(JSON.stringify(maskData(deep)).length < 200);
  assert.equal((maskData(Array.from({ length: 5_000 }, () => 1)) as unknown[]).length, 100);
  assert.ok((maskData("a".repeat(100_000)) as string).length < 1_100);
  for (const start of ["", "a"])
    assert.ok((maskData(start + "😀".repeat(1_000)) as string).isWellFormed());
});
