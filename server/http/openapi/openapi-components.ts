import { firstKind, namesOf } from "../../platform/room-names.ts";
import { isOperatorRoute, type AnyRoute } from "../pipeline/route.ts";

/** Parts of the OpenAPI document that every operation refers to (ENV-01..ENV-04, HTTP-06). */
const envelopeProperties = {
  version: { type: "string" },
  code: { type: "integer", description: "same as the HTTP status" },
  status: { type: "string", description: "reason phrase" },
  env: { type: "string" },
  debug: { type: "boolean" },
  elapsed: { type: "number", description: "seconds" },
  timestamp: { type: "string", format: "date-time" },
  meta: {
    type: "object",
    required: ["method", "path"],
    properties: { method: { type: "string" }, path: { type: "string" } },
  },
};

const envelope = {
  type: "object",
  required: Object.keys(envelopeProperties),
  properties: envelopeProperties,
};

const flash = {
  type: "object",
  required: ["errors"],
  properties: {
    errors: {
      type: "array",
      items: {
        type: "object",
        required: ["code", "message"],
        properties: {
          code: { type: "string" },
          message: { type: "string" },
          params: { type: "object" },
        },
      },
    },
    violations: {
      type: "array",
      items: {
        type: "object",
        required: ["propertyPath", "title"],
        properties: { propertyPath: { type: "string" }, title: { type: "string" } },
      },
    },
  },
};

const idempotencyKey = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  schema: { type: "string", pattern: "^[\\x21-\\x7e]{1,128}$" },
};

const sharedComponents = {
  schemas: {
    Envelope: envelope,
    ErrorEnvelope: {
      allOf: [{ $ref: "#/components/schemas/Envelope" }],
      type: "object",
      required: ["flash"],
      properties: { flash },
    },
  },
  parameters: {
    IdempotencyKey: {
      ...idempotencyKey,
      description: "replays the first success of the same key, caller and body for 24 hours",
    },
    SeatIdempotencyKey: {
      ...idempotencyKey,
      description:
        "replays the first success of the same key and command; the last eight per seat are cached",
    },
  },
  securitySchemes: {
    bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
    apiKey: { type: "apiKey", in: "header", name: "X-Api-Key" },
  },
};

const operatorSchemes = {
  operatorToken: { type: "http", scheme: "bearer", description: "operator token" },
  operatorCookie: { type: "apiKey", in: "cookie", name: "operator" },
};

/** Names of the schemes of a seat: by its token in the header, and by its cookie. */
export const seatSchemesOf = (kind: string): [token: string, cookie: string] =>
  kind === firstKind ? ["lobbyToken", "lobbyCookie"] : ["roomToken", "roomCookie"];

function seatSchemes(kind: string) {
  const { seatHeader, seatCookie } = namesOf(kind);
  const [token, cookie] = seatSchemesOf(kind);
  return {
    [token]: { type: "apiKey", in: "header", name: seatHeader },
    [cookie]: { type: "apiKey", in: "cookie", name: seatCookie },
  };
}

/** Components of a document with these routes; operators have their own credentials (OPS-02). */
export function componentsOf(routes: readonly AnyRoute[]) {
  const kinds = [firstKind, ...routes.flatMap(({ room }) => room ?? [])];
  const schemes = [
    sharedComponents.securitySchemes,
    ...kinds.map(seatSchemes),
    routes.some(isOperatorRoute) ? operatorSchemes : {},
  ];
  return { ...sharedComponents, securitySchemes: Object.assign({}, ...schemes) as object };
}

/** Position of a page in its list (ENV-05). */
export const pagination = {
  type: "object",
  required: ["page", "limit", "total", "has_more"],
  properties: {
    page: { type: "integer" },
    limit: { type: "integer" },
    total: { type: "integer" },
    has_more: { type: "boolean" },
  },
};
