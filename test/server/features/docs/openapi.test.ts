import assert from "node:assert/strict";
import { test } from "node:test";
import { messageData } from "../../../../server/features/lobbies/messages.ts";
import { documentedRoutes } from "../../../../server/operator/routes.ts";
import { groups } from "../../../../server/features/docs/openapi-guide.ts";
import { publicDocument } from "../../../../server/features/docs/openapi-route.ts";
import type { AnyRoute } from "../../../../server/http/pipeline/route.ts";
import { roomKinds } from "../../../../server/app/rooms.ts";
import { routes } from "../../../../server/app/routes.ts";

interface Answer {
  schema: { properties: { body: Field } };
}

interface Document {
  components: { schemas: Record<string, Field> };
  info: { description: string };
  tags: { name: string; description?: string }[];
  paths: Record<string, Record<string, Operation>>;
}

interface Operation {
  parameters: { name: string; required: boolean; $ref?: string }[];
  requestBody: { content: Record<string, { schema: { required: string[] } }> };
  responses: Record<string, { content: Record<string, { schema: { contentSchema: Messages } }> }>;
}

interface Messages {
  anyOf: { $ref: string }[];
}

const nameIn = ({ $ref }: { $ref: string }) => $ref.replace("#/components/schemas/", "");

interface Field {
  pattern?: string;
  format?: string;
  description?: string;
  properties?: Record<string, Field>;
  items?: Field;
  $ref?: string;
}

const documentOf = (table: readonly AnyRoute[]) =>
  JSON.parse(JSON.stringify(publicDocument(table))) as Document;

test("the document explains how to begin and describes each group of operations", () => {
  const { info, tags } = documentOf([...routes, ...documentedRoutes]);
  const undescribed = tags.filter(({ description }) => !description).map(({ name }) => name);
  assert.equal(
    undescribed.join(),
    "",
    "describe these tags in server/features/docs/openapi-guide.ts",
  );
  assert.deepEqual(
    tags.map(({ name, description }) => [name, description]),
    Object.entries(groups),
  );
  for (const [, path] of info.description.matchAll(/`(?:GET|POST) (\/[^`]+)`/g))
    assert.ok(
      routes.some((route) => route.path === path),
      path,
    );
});

test("the document lists the parameters of each stream and all of its messages", () => {
  const subscribe = documentOf(routes).paths["/v1/hub"]?.["get"];
  assert.deepEqual(
    subscribe?.parameters.map(({ name, required }) => [name, required]),
    [
      ["topic", true],
      ["also", false],
      ["authorization", false],
      ["lastEventID", false],
    ],
  );
  const { contentSchema } = subscribe?.responses["200"]?.content["text/event-stream"]?.schema ?? {};
  const named = contentSchema?.anyOf.map(nameIn) ?? [];
  const titles = Object.values(roomKinds).flatMap(({ messages }) =>
    messages.map((schema) => (schema as { title?: string }).title),
  );
  assert.deepEqual(named, titles);
  for (const name of [...Object.keys(messageData), "lobbies.updated"])
    assert.ok(named.includes(name), name);
});

test("the document uses one named schema for each object that clients keep", () => {
  const { components, paths } = documentOf(routes);
  const bodyOf = (path: string, method: string, status: string) =>
    (paths[path]?.[method]?.responses[status]?.content["application/json"] as Answer | undefined)
      ?.schema.properties.body;
  const lobby = { $ref: "#/components/schemas/Lobby" };
  const lobbies = "/v1/games/trivia/lobbies";
  assert.deepEqual(bodyOf(lobbies, "post", "201")?.properties?.["lobby"], lobby);
  assert.deepEqual(bodyOf(lobbies, "get", "200")?.properties?.["lobbies"]?.items, lobby);
  assert.deepEqual(bodyOf("/v1/gateway/guest", "post", "200"), {
    $ref: "#/components/schemas/Session",
  });
  assert.deepEqual(bodyOf("/v2/items/{id}", "get", "200"), {
    $ref: "#/components/schemas/ItemDocument",
  });
  assert.ok(components.schemas["Lobby"]?.properties?.["players"]);
  const known = Object.keys(components.schemas).map((name) => `#/components/schemas/${name}`);
  const used = JSON.stringify(paths).matchAll(/"\$ref":"(#\/components\/schemas\/[^"]+)"/g);
  for (const [, reference = ""] of used) assert.ok(known.includes(reference), reference);
});

test("the document marks no body field with a default as required", () => {
  const { paths } = documentOf(routes);
  const needed = (path: string) =>
    paths[path]?.["post"]?.requestBody.content["application/json"]?.schema.required;
  assert.deepEqual(needed("/v1/games/trivia/questions/generate"), ["category"]);
  assert.deepEqual(needed("/v1/games/trivia/questions/{id}/report"), ["reason"]);
});

test("the document lists the idempotency key where a seat's command may be repeated", () => {
  const { paths } = documentOf(routes);
  const isKeyed = ({ parameters = [] }: Partial<Operation>) =>
    parameters.some(({ $ref }) => $ref === "#/components/parameters/SeatIdempotencyKey");
  const keyed = routes.filter(({ rare }) => rare?.idempotentSeat);
  const ofLobbies = ["answer", "end", "leave", "lock", "next", "pick", "settings", "start"];
  for (const name of ofLobbies)
    assert.ok(
      keyed.some(({ path }) => path === `/v1/games/trivia/lobbies/{code}/${name}`),
      name,
    );
  for (const route of routes) {
    const operation = paths[route.path]?.[route.method.toLowerCase()];
    assert.equal(isKeyed(operation ?? {}), keyed.includes(route), route.path);
  }
});

test("every field with a pattern has an error message that describes the format in words", () => {
  const wordless: string[] = [];
  const checkField = (schema: Field, place: string): void => {
    if ((schema.pattern ?? schema.format) !== undefined && !schema.description)
      wordless.push(place);
    for (const [name, field] of Object.entries(schema.properties ?? {}))
      checkField(field, `${place} ${name}`);
    if (schema.items) checkField(schema.items, place);
  };
  for (const { method, path, body } of routes)
    if (body) checkField(body as Field, `${method} ${path}`);
  assert.deepEqual(wordless, []);
});
