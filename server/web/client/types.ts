/** Part of a schema of the interface document, as far as types of the client need it. */
interface Schema {
  type?: string | string[];
  $ref?: string;
  const?: string;
  enum?: (string | null)[];
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  description?: string;
}

interface Operation {
  requestBody?: { content: { "application/json": { schema: Schema } } };
  responses: Record<string, { content?: { "application/json": { schema: Schema } } }>;
}

/** Part of `openapi.json`. */
export interface InterfaceDocument {
  components: { schemas: Record<string, Schema> };
  paths: Record<string, Record<string, Operation>>;
}

/** Names of the client for schemas of the document; all others keep their own. */
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
  Result: "What one seat gave; `selected_index` is -1 where time ran out.",
  ReviewItem: "A closed question with its answer, and what each seat gave.",
  AnswerResult: "What a seat that answers in versus learns before the others.",
  SeatView: "A lobby as one seat reads it.",
};

const lobbies = "/v1/games/trivia/lobbies";

/** The types of lobbies and their events, in TypeScript (`npm run client:types`). */
export function clientTypes({ components, paths }: InterfaceDocument): string {
  const { schemas } = components;
  const find = (path: string, method: string): Operation => {
    const operation = paths[path]?.[method];
    if (operation === undefined) throw new Error(`The interface has no ${method} ${path}`);
    return operation;
  };
  const asked = (path: string, method: string) =>
    find(path, method).requestBody?.content["application/json"].schema;
  const answered = (path: string, method: string) =>
    find(path, method).responses["200"]?.content?.["application/json"].schema.properties?.["body"];
  const declared: [name: string, schema: Schema | undefined][] = [
    ...Object.entries(names).map(([of, name]): [string, Schema | undefined] => [name, schemas[of]]),
    ["SeatView", answered(`${lobbies}/{code}`, "get")],
    ["NewLobby", asked(lobbies, "post")],
    ["Settings", asked(`${lobbies}/{code}/settings`, "patch")],
  ];
  const events = Object.entries(schemas).filter(([name]) => name.startsWith("lobby."));
  const data = events.map(
    ([name, { properties }]) => `${JSON.stringify(name)}: ${typeOf(properties?.["data"])};`,
  );
  return [
    ...declared.map(
      ([name, schema]) => `${docOf(docs[name])}export interface ${name} ${typeOf(schema)}`,
    ),
    `/** What each event of a lobby carries. */\nexport interface LobbyEventData {${data.join("\n")}}`,
  ].join("\n\n");
}

function typeOf(schema: Schema | undefined): string {
  if (schema === undefined) throw new Error("The interface lacks a schema of the client");
  const { $ref, const: only, enum: values, anyOf, type, items } = schema;
  if ($ref !== undefined) return nameOf($ref);
  if (only !== undefined) return JSON.stringify(only);
  if (anyOf !== undefined) return anyOf.map(typeOf).join(" | ");
  // A value of a request may be a variable: only where no other type is named it is one of a list.
  if (type === undefined) return (values ?? []).map((value) => JSON.stringify(value)).join(" | ");
  return [type]
    .flat()
    .map((one) => plainType(one, schema, items))
    .join(" | ");
}

function plainType(type: string, schema: Schema, items: Schema | undefined): string {
  if (type === "integer") return "number";
  if (type === "array") return `(${typeOf(items)})[]`;
  return type === "object" ? membersOf(schema) : type;
}

function membersOf({ properties = {}, required = [] }: Schema): string {
  const members = Object.entries(properties).map(([name, schema]) => {
    return `${docOf(schema.description)}${name}${required.includes(name) ? "" : "?"}: ${typeOf(schema)};`;
  });
  return members.length === 0 ? "Record<string, never>" : `{\n${members.join("\n")}\n}`;
}

const docOf = (text: string | undefined) => (text === undefined ? "" : `/** ${text} */\n`);

function nameOf(ref: string): string {
  const name = ref.slice(ref.lastIndexOf("/") + 1);
  return names[name] ?? name;
}

const first = "// Types of the interface document, by `npm run client:types`.";
const last = "// End of the types of the interface document.";

/** The source of the client with the types of this document, not formatted. */
export function withClientTypes(source: string, document: InterfaceDocument): string {
  const [start, end] = [source.indexOf(first), source.indexOf(last)];
  if (start < 0 || end < start) throw new Error("The client does not say where its types are");
  return `${source.slice(0, start)}${first}\n\n${clientTypes(document)}\n\n${source.slice(end)}`;
}
