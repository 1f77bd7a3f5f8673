import assert from "node:assert/strict";
import { test } from "node:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import Type, { type TSchema } from "typebox";
import { buildOpenApi } from "../../../server/http/openapi/openapi.ts";
import { sampleRoutes } from "./sample-routes.ts";

const build = () =>
  JSON.parse(JSON.stringify(buildOpenApi(sampleRoutes, { title: "Sample", version: "1.2.3" }))) as {
    paths: Record<
      string,
      Record<string, { operationId: string; responses: Record<string, unknown> }>
    >;
  };

test("the document of the route table is valid OpenAPI 3.1", async () => {
  const result = await new Validator().validate({ ...build() });
  assert.deepEqual(result.errors ?? [], []);
  assert.equal(result.valid, true);
});

test("every route is an operation with a unique id", () => {
  const operations = Object.values(build().paths).flatMap((path) => Object.values(path));
  assert.equal(operations.length, sampleRoutes.length);
  assert.equal(new Set(operations.map((one) => one.operationId)).size, operations.length);
});

test("an operation lists the errors of the HTTP kernel beside its own", () => {
  const order = build().paths["/v1/orders"]?.["post"];
  assert.deepEqual(Object.keys(order?.responses ?? {}).sort(), [
    "201",
    "400",
    "409",
    "413",
    "414",
    "415",
    "422",
    "429",
    "500",
    "503",
  ]);
});

test("two different schemas with the same title stay separate", () => {
  const [route] = sampleRoutes;
  assert.ok(route);
  const answers = (...schemas: TSchema[]) =>
    buildOpenApi(
      schemas.map((schema, n) => ({ ...route, path: `/v1/${n}`, responses: { 200: schema } })),
      { title: "Sample", version: "1.2.3" },
    );
  const thing = Type.Object({ id: Type.Integer() }, { title: "Thing" });
  const alike = Type.Object({ id: Type.Integer() }, { title: "Thing" });
  const other = Type.Object({ id: Type.String() }, { title: "Thing" });
  const { components } = JSON.parse(JSON.stringify(answers(thing, alike))) as {
    components: { schemas: Record<string, { properties: unknown }> };
  };
  assert.deepEqual(components.schemas["Thing"]?.properties, {
    id: { type: "integer", format: "int64" },
  });
  assert.throws(() => answers(thing, other), /two schemas are called Thing/);
});

test("an operation whose parameters are all optional lists no error for a missing parameter", () => {
  const refusal = JSON.stringify(build().paths["/v1/things"]?.["get"]?.responses["400"]);
  assert.match(refusal, /request:invalid_query/);
  assert.doesNotMatch(refusal, /request:missing_parameter/);
});
