import assert from "node:assert/strict";
import { test } from "node:test";
import { messageData } from "../../../server/modules/lobbies/messages.ts";
import { declaredRoutes } from "../../../server/operator/declared.ts";
import { groups } from "../../../server/pages/openapi-guide.ts";
import { publicDocument } from "../../../server/pages/openapi-route.ts";
import { routes } from "../../../server/routes.ts";

interface Document {
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
  anyOf: { properties: { type: { const: string } } }[];
}

interface Field {
  pattern?: string;
  format?: string;
  description?: string;
  properties?: Record<string, Field>;
  items?: Field;
}

const documentOf = (table: typeof routes) =>
  JSON.parse(JSON.stringify(publicDocument(table))) as Document;

test("the document says how to begin and what each group of operations is for", () => {
  const { info, tags } = documentOf([...routes, ...declaredRoutes()]);
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

test("the document names the parameters of a stream and every message that may come", () => {
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
  assert.deepEqual(
    contentSchema?.anyOf.map(({ properties }) => properties.type.const),
    [...Object.keys(messageData), "lobbies.updated"],
  );
});

test("the document asks for no field of a body that has a default", () => {
  const { paths } = documentOf(routes);
  const needed = (path: string) =>
    paths[path]?.["post"]?.requestBody.content["application/json"]?.schema.required;
  assert.deepEqual(needed("/v1/games/trivia/questions/generate"), ["category"]);
  assert.deepEqual(needed("/v1/games/trivia/questions/{id}/report"), ["reason"]);
});

test("the document lists the idempotency key where a seat's command may be repeated", () => {
  const { paths } = documentOf(routes);
  const isKeyed = ({ parameters }: Operation) =>
    parameters.some(({ $ref }) => $ref === "#/components/parameters/SeatIdempotencyKey");
  const commands = Object.entries(paths).flatMap(([path, operations]) =>
    path.startsWith("/v1/games/trivia/lobbies/{code}/") && Object.values(operations).some(isKeyed)
      ? [path.split("/")[6]]
      : [],
  );
  assert.deepEqual(commands.sort(), [
    "answer",
    "end",
    "leave",
    "lock",
    "next",
    "pick",
    "players",
    "settings",
    "start",
  ]);
});

test("every field with a form says in words what the form is, for whoever sent another one", () => {
  const wordless: string[] = [];
  const look = (schema: Field, place: string): void => {
    if ((schema.pattern ?? schema.format) !== undefined && !schema.description)
      wordless.push(place);
    for (const [name, field] of Object.entries(schema.properties ?? {}))
      look(field, `${place} ${name}`);
    if (schema.items) look(schema.items, place);
  };
  for (const { method, path, body } of routes) if (body) look(body as Field, `${method} ${path}`);
  assert.deepEqual(wordless, []);
});
