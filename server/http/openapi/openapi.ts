import { isDeepStrictEqual } from "node:util";
import type { TObject, TSchema } from "typebox";
import { errors, type ErrorCode } from "../../platform/errors.ts";
import { impliedErrors } from "./implied-errors.ts";
import { componentsOf, pagination, seatSchemesOf } from "./openapi-components.ts";
import { withIntegerFormats } from "../pipeline/integer-formats.ts";
import { keyUseOf, scopeOf } from "../auth/key-use.ts";
import { neededNames } from "../pipeline/query.ts";
import { ownerPortHeader } from "../replies/owner-port.ts";
import { reasonOf } from "../replies/reason.ts";
import {
  isOperatorRoute,
  type AnyRoute,
  type AuthLevel,
  type Media,
  type ResponseSpec,
  type Stream,
} from "../pipeline/route.ts";

type Json = Record<string, unknown>;

export interface OpenApiInfo {
  title: string;
  version: string;
  /** Markdown introduction to all operations. */
  description?: string;
}

/** Tag -> its description, in display order. */
export type Groups = Readonly<Record<string, string>>;

const operator = [{ operatorToken: [] }, { operatorCookie: [] }];

const security: Record<AuthLevel, Json[]> = {
  public: [],
  optional: [{}, { bearer: [] }],
  player: [{ bearer: [] }],
  registered: [{ bearer: [] }],
  guest: [{ bearer: [] }],
  seat: [],
  optional_seat: [{}],
  open: [],
  local: [{}, ...operator],
  viewer: operator,
  operator,
  admin: operator,
};

/** Note on each operation of the operator listener (OPS-01). */
const operatorServers = [
  { url: "http://127.0.0.1:9090", description: "operator listener at OPERATOR_LISTEN" },
];

/** The OpenAPI 3.1 document of a route table (BOOT-04). */
export function buildOpenApi(
  routes: readonly AnyRoute[],
  info: OpenApiInfo,
  groups: Groups = {},
): Json {
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = (paths[route.path] ??= {});
    path[route.method.toLowerCase()] = operationOf(route);
  }
  const schemas: Record<string, Json> = {};
  const named = nameSchemas(paths, schemas);
  const shared = componentsOf(routes);
  const used = new Set(routes.map((route) => route.tag));
  const known = Object.entries(groups).filter(([name]) => used.delete(name));
  const document = {
    openapi: "3.1.0",
    info: { ...info, license: { name: "MIT", identifier: "MIT" } },
    // Relative: the host that served the document.
    servers: [{ url: "/" }],
    tags: [
      ...known.map(([name, description]) => ({ name, description })),
      ...[...used].sort().map((name) => ({ name })),
    ],
    paths: named,
    components: { ...shared, schemas: { ...shared.schemas, ...schemas } },
  };
  return withIntegerFormats(document) as Json;
}

/**
 * Replaces each schema with a title by a reference and collects it in `schemas`: client generators use the title as
 * the type's name. Throws when two different schemas have the same title.
 */
function nameSchemas(part: unknown, schemas: Record<string, Json>): unknown {
  if (Array.isArray(part)) return part.map((each) => nameSchemas(each, schemas));
  if (typeof part !== "object" || part === null) return part;
  const inside = Object.entries(part).map(([key, value]) => [key, nameSchemas(value, schemas)]);
  const schema = Object.fromEntries(inside) as Json;
  const { title } = schema;
  if (typeof title !== "string") return schema;
  const known = (schemas[title] ??= schema);
  if (!isDeepStrictEqual(known, schema)) throw new Error(`two schemas are called ${title}`);
  return { $ref: `#/components/schemas/${title}` };
}

function operationOf(route: AnyRoute): Json {
  const parameters = [
    ...pathParametersOf(route),
    ...parametersOf("query", route.query ?? route.rare?.ownQuery),
    ...(route.idempotent ? [{ $ref: "#/components/parameters/IdempotencyKey" }] : []),
    ...(route.rare?.idempotentSeat ? [{ $ref: "#/components/parameters/SeatIdempotencyKey" }] : []),
  ];
  const { formRoute } = route.rare ?? {};
  const scope = scopeOf(keyUseOf(route));
  const keyText = scope === null ? "" : `  \nAn API key needs the scope \`${scope}\`.`;
  return {
    operationId: operationId(route),
    summary: route.summary,
    description: `Source: ${route.source}${keyText}`,
    tags: [route.tag],
    ...(isOperatorRoute(route) ? { servers: operatorServers } : {}),
    security: [
      ...security[route.auth],
      ...seatOf(route),
      ...(scope === null ? [] : [{ apiKey: [] }]),
    ],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...bodyOf(route),
    responses: merged(
      { ...successesOf(route), ...(formRoute ? successesOf(formRoute) : {}) },
      refusalsOf(route),
    ),
  };
}

/** Credentials of the seat that a route reads. */
function seatOf({ auth, room = "" }: AnyRoute): Json[] {
  if (auth !== "seat" && auth !== "optional_seat") return [];
  const [token, cookie] = seatSchemesOf(room);
  return [{ [token]: [] }, { bearer: [] }, { [cookie]: [] }];
}

function bodyOf({ body, urlForm, form, rare }: AnyRoute): Json {
  if (form) return { requestBody: formOf(form.field) };
  if (!body) return urlForm ? { requestBody: requestBodyOf(urlForm, urlFormType) } : {};
  const own = requestBodyOf(body, "application/json");
  const asForm = rare?.formRoute?.urlForm ? requestBodyOf(rare.formRoute.urlForm, urlFormType) : {};
  const content = { ...(own["content"] as Json), ...(asForm["content"] as Json | undefined) };
  return { requestBody: { ...own, content } };
}

/** A status may have a response of the handler and a refusal in the envelope. */
function merged(answers: Json, refusals: Json): Json {
  const both = Object.entries(refusals).map(([status, refusal]) => {
    const own = answers[status] as Json | undefined;
    if (own === undefined) return [status, refusal];
    const { description, content } = refusal as Json;
    const types = { ...(content as Json), ...(own["content"] as Json | undefined) };
    return [status, { ...own, description, content: types }];
  });
  return { ...answers, ...(Object.fromEntries(both) as Json) };
}

/** `GET /v1/things/{id}` -> `get_v1_things_id`. */
function operationId(route: AnyRoute): string {
  const words = route.path.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  return [route.method.toLowerCase(), ...words].join("_");
}

/** A schema may be shared with a path that has more parameters. */
const pathParametersOf = ({ path, params }: AnyRoute): Json[] =>
  parametersOf("path", params).filter(({ name }) => path.includes(`{${String(name)}}`));

function parametersOf(place: "path" | "query", schema: TObject | undefined): Json[] {
  if (!schema) return [];
  const required = neededNames(schema);
  return Object.entries(schema.properties as Record<string, TSchema>).map(([name, property]) => {
    // `clamp` and `plus` are not part of JSON Schema.
    const {
      clamp: _clamp,
      plus: _plus,
      ...value
    } = property as { clamp?: boolean; plus?: boolean; description?: string };
    const { description } = value;
    return {
      name,
      in: place,
      required: place === "path" || required.includes(name),
      ...(description === undefined ? {} : { description }),
      schema: value,
    };
  });
}

const urlFormType = "application/x-www-form-urlencoded";

function requestBodyOf(schema: TObject, type: string): Json {
  const required = neededNames(schema);
  return {
    required: required.length > 0,
    content: { [type]: { schema: { ...schema, required } } },
  };
}

function formOf(field: string): Json {
  const file = { type: "string", contentMediaType: "application/octet-stream" };
  const schema = { type: "object", required: [field], properties: { [field]: file } };
  return { required: true, content: { "multipart/form-data": { schema } } };
}

function successesOf(route: AnyRoute): Json {
  return Object.fromEntries(
    Object.entries(route.responses).map(([status, spec]) => [
      status,
      {
        description: reasonOf(Number(status)),
        ...withOwnerPort(
          route,
          withOtherForm(route, contentOf(Number(status), spec, route.isPaged)),
        ),
      },
    ]),
  );
}

function contentOf(status: number, spec: ResponseSpec, isPaged = false): Json {
  if (status === 204) return {};
  if (spec === null) return jsonContent({ $ref: "#/components/schemas/Envelope" });
  if (!("kind" in spec) || typeof spec.kind !== "string")
    return jsonContent(envelopeAround(spec, isPaged));
  if (spec.kind === "redirect")
    return { headers: { Location: { schema: { type: "string", format: "uri" } } } };
  if (spec.kind === "stream") return eventContent((spec as Stream).message);
  const { type } = spec as Media;
  return { content: { [type]: { schema: { type: "string" } } } };
}

function withOtherForm({ rare }: AnyRoute, answer: Json): Json {
  const { otherForm } = rare ?? {};
  if (otherForm === undefined) return answer;
  const content = answer["content"] as Json | undefined;
  return { ...answer, content: { ...content, [otherForm]: { schema: { type: "string" } } } };
}

function withOwnerPort({ room, rare }: AnyRoute, answer: Json): Json {
  return room !== undefined || rare?.namesOwner
    ? { ...answer, headers: { [ownerPortHeader]: ownerPortSpec } }
    : answer;
}

const ownerPortSpec: Json = {
  description:
    "dedicated port of the worker that owns the room, with WORKER_PORTS and unless the request arrived there. Requests and streams of the room sent to this port take no further hop; the shared port serves them as well",
  schema: { type: "integer", format: "int32", minimum: 1, maximum: 65_535 },
};

/** OpenAPI 3.1 cannot describe stream frames; JSON Schema describes a string that holds JSON. */
const eventContent = (message: TSchema): Json => {
  const description = "frames of `id`, `event` and `data`; each `data` is one of these as JSON";
  const schema = {
    type: "string",
    description,
    contentMediaType: "application/json",
    contentSchema: message,
  };
  return { content: { "text/event-stream": { schema } } };
};

const jsonContent = (schema: unknown): Json => ({ content: { "application/json": { schema } } });

const envelopeAround = (body: unknown, isPaged: boolean): Json => ({
  allOf: [{ $ref: "#/components/schemas/Envelope" }],
  type: "object",
  required: isPaged ? ["body", "pagination"] : ["body"],
  properties: isPaged ? { body, pagination } : { body },
});

/** One response per status, with each error code it may have. */
function refusalsOf(route: AnyRoute): Json {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of new Set([...route.errors, ...impliedErrors(route)])) {
    const status = errors[code][0];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      String(status),
      {
        description: codes.map((code) => `\`${code}\`: ${errors[code][1]}`).join("  \n"),
        ...jsonContent({ $ref: "#/components/schemas/ErrorEnvelope" }),
      },
    ]),
  );
}
