/** The parts of a schema of the OpenAPI document that the types of client and pages need. */
interface Schema {
  type?: string | string[];
  $ref?: string;
  const?: string;
  enum?: (string | null)[];
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  required?: string[];
  description?: string;
}

interface Operation {
  requestBody?: { content: { "application/json": { schema: Schema } } };
  responses: Record<string, { content?: { "application/json": { schema: Schema } } }>;
}

/** The parts of `openapi.json` used here. */
export interface OpenApiDocument {
  components: { schemas: Record<string, Schema> };
  paths: Record<string, Record<string, Operation>>;
}

/** Names in the client of the document's schemas; others keep their name. */
const names: Readonly<Record<string, string>> = {
  LobbyPlayer: "Player",
  LobbyQuestion: "Question",
  LobbyReveal: "Reveal",
  LobbyResult: "Result",
  Lobby: "Lobby",
  LobbyReviewItem: "ReviewItem",
  CatalogQuestion: "CatalogQuestion",
  LobbySeat: "SeatRef",
  VersusResult: "AnswerResult",
  HubAddress: "HubAddress",
};

const docs: Readonly<Record<string, string>> = {
  Result: "The answer of one seat; `selected_index` is -1 for a timeout.",
  ReviewItem: "A closed question with its correct answer and the answers of all seats.",
  AnswerResult: "The result that the answering seat of a versus game receives before the reveal.",
  SeatView: "A lobby as seen by one seat.",
};

const lobbies = "/v1/games/trivia/lobbies";

/**
 * Types the pages read, with the operation that returns them; a schema named in the document keeps that
 * name.
 */
const pageAnswers: readonly [name: string, method: string, path: string][] = [
  ["Session", "post", "/v1/gateway/login"],
  ["ConsentQuestion", "get", "/v1/oauth/consent/{uid}/question"],
  ["ConsentResult", "post", "/v1/oauth/consent/{uid}"],
  ["Inbox", "get", "/inbox/messages"],
  ["GameList", "get", "/v1/codex/games"],
  ["Manifest", "get", "/v1/codex/{game}/manifest"],
  ["PatchList", "get", "/v1/codex/{game}/patches"],
  ["Changelog", "get", "/v1/codex/{game}/changelog"],
  ["EntityList", "get", "/v1/codex/{game}/{type}"],
  ["HydratedEntity", "get", "/v1/codex/{game}/{id}"],
  ["EntityHistory", "get", "/v1/codex/{game}/{id}/history"],
  ["EntityDiff", "get", "/v1/codex/{game}/diff/{id}"],
  ["Facets", "get", "/v2/facets"],
  ["ItemDocument", "get", "/v2/items/{id}"],
  ["MonsterDocument", "get", "/v2/monsters/{id}"],
  ["Quest", "get", "/v2/quests/{id}"],
  ["LootDropGroup", "get", "/v2/loot_drop_groups/{id}"],
  ["LootDrop", "get", "/v2/loot_drops/{id}"],
  ["LootDropRate", "get", "/v2/loot_drop_rates/{id}"],
];

/** The types of lobbies and of the events of every kind of room. */
export function clientTypes(document: OpenApiDocument): string {
  const { schemas } = document.components;
  const asked = (path: string, method: string) =>
    find(document, path, method).requestBody?.content["application/json"].schema;
  const declared: [name: string, schema: Schema | undefined][] = [
    ...Object.entries(names).map(([of, name]): [string, Schema | undefined] => [name, schemas[of]]),
    ["SeatView", bodyOf(document, `${lobbies}/{code}`, "get")],
    ["NewLobby", asked(lobbies, "post")],
    ["Settings", asked(`${lobbies}/{code}/settings`, "patch")],
  ];
  const known = new Set(declared.map(([name]) => name));
  const declareRefs = (schema: Schema | undefined): void => {
    for (const ref of refsIn(schema)) {
      const found = schemas[lastOf(ref)];
      if (known.has(nameOf(ref))) continue;
      known.add(nameOf(ref));
      declared.push([nameOf(ref), found]);
      declareRefs(found);
    }
  };
  const events = Object.entries(schemas).filter(([name]) => eventName.test(name));
  for (const [, schema] of events) declareRefs(schema);
  const kinds = new Set(events.map(([name]) => name.replace(/\..*/, "")));
  return source([
    ...declared.map(([name, schema]) => declare(name, schema)),
    ...Array.from(kinds, (kind) => eventsOf(kind, events)),
  ]);
}

/** `<kind>.<event>`; a list has `<list>.updated`, which is no event of a room. */
const eventName = /^[a-z]+\.(?!updated$)/;

function eventsOf(kind: string, events: readonly [string, Schema][]): string {
  const data = events
    .filter(([name]) => name.startsWith(`${kind}.`))
    .map(([name, { properties }]) => `${JSON.stringify(name)}: ${typeOf(properties?.["data"])};`);
  const name = `${kind.charAt(0).toUpperCase()}${kind.slice(1)}EventData`;
  return `/** Data of each ${kind} event. */\nexport interface ${name} ${block(data)}`;
}

/** The events of rooms that a client of this release knows. */
export function eventTypes({ components }: OpenApiDocument): string {
  const names = Object.keys(components.schemas).filter((name) => eventName.test(name));
  const entries = names.map((name) => `${JSON.stringify(name)}: true,`);
  return source([`export const eventTypes = ${block(entries)} as const;`]);
}

/** The types the pages read, with all types they refer to. */
export function pageTypes(document: OpenApiDocument): string {
  const { schemas } = document.components;
  const declared = new Map<string, string>();
  const declareNamed = (name: string, schema: Schema | undefined): void => {
    if (declared.has(name)) return;
    declared.set(name, declare(name, schema));
    for (const ref of refsIn(schema)) declareNamed(nameOf(ref), schemas[lastOf(ref)]);
  };
  for (const [name, method, path] of pageAnswers) {
    const schema = bodyOf(document, path, method);
    declareNamed(name, schema?.$ref === undefined ? schema : schemas[lastOf(schema.$ref)]);
  }
  return source([...declared.values()]);
}

function find({ paths }: OpenApiDocument, path: string, method: string): Operation {
  const operation = paths[path]?.[method];
  if (operation === undefined) throw new Error(`The interface has no ${method} ${path}`);
  return operation;
}

/** The `body` of a success. */
const bodyOf = (document: OpenApiDocument, path: string, method: string): Schema | undefined =>
  find(document, path, method).responses["200"]?.content?.["application/json"].schema.properties?.[
    "body"
  ];

function declare(name: string, schema: Schema | undefined): string {
  const type = typeOf(schema);
  return type.startsWith("{")
    ? `${docOf(docs[name])}export interface ${name} ${type}`
    : `${docOf(docs[name])}export type ${name} = ${type};`;
}

function refsIn(schema: Schema | undefined): string[] {
  if (schema === undefined) return [];
  const { $ref, anyOf = [], items, properties = {}, patternProperties = {} } = schema;
  const parts = [
    ...anyOf,
    items,
    ...Object.values(properties),
    ...Object.values(patternProperties),
  ];
  return [...($ref === undefined ? [] : [$ref]), ...parts.flatMap(refsIn)];
}

function typeOf(schema: Schema | undefined): string {
  if (schema === undefined) throw new Error("The interface lacks a schema of the client");
  const { $ref, const: only, enum: values, anyOf, type, items } = schema;
  if ($ref !== undefined) return nameOf($ref);
  if (only !== undefined) return JSON.stringify(only);
  if (anyOf !== undefined) return anyOf.map(typeOf).join(" | ");
  // Callers may pass a variable, so listed values become a union only where no other type is declared.
  if (type === undefined)
    return values?.map((value) => JSON.stringify(value)).join(" | ") ?? "unknown";
  return [type]
    .flat()
    .map((one) => plainType(one, schema, items))
    .join(" | ");
}

function plainType(type: string, schema: Schema, items: Schema | undefined): string {
  if (type === "integer") return "number";
  if (type === "array") return listOf(typeOf(items));
  return type === "object" ? membersOf(schema) : type;
}

function membersOf(schema: Schema): string {
  const { properties = {}, required = [], patternProperties = {}, additionalProperties } = schema;
  const [pattern] = Object.values(patternProperties);
  if (pattern !== undefined) return `Record<string, ${typeOf(pattern)}>`;
  const members = Object.entries(properties).map(
    ([name, member]) =>
      `${docOf(member.description)}${name}${required.includes(name) ? "" : "?"}: ${typeOf(member)};`,
  );
  if (typeof additionalProperties === "object") members.push("[name: string]: unknown;");
  return members.length === 0 ? "Record<string, never>" : block(members);
}

const listOf = (type: string) => (type.includes(" | ") ? `(${type})[]` : `${type}[]`);

const block = (lines: readonly string[]) => `{\n${lines.join("\n").replace(/^/gm, "  ")}\n}`;

const docOf = (text: string | undefined) => (text === undefined ? "" : `/** ${text} */\n`);

const lastOf = (ref: string) => ref.slice(ref.lastIndexOf("/") + 1);

const nameOf = (ref: string) => names[lastOf(ref)] ?? lastOf(ref);

const source = (declarations: readonly string[]) =>
  `${["// Types of the OpenAPI document.", ...declarations].join("\n\n")}\n`;
