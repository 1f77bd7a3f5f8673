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

export const sharedComponents = {
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
    lobbyToken: { type: "apiKey", in: "header", name: "X-Lobby-Token" },
    lobbyCookie: { type: "apiKey", in: "cookie", name: "svc_lobby" },
  },
};

/** Components of a document that also has the operator listener (OPS-02). */
export const componentsWithOperators = {
  ...sharedComponents,
  securitySchemes: {
    ...sharedComponents.securitySchemes,
    operatorToken: { type: "http", scheme: "bearer", description: "operator token" },
    operatorCookie: { type: "apiKey", in: "cookie", name: "operator" },
  },
};

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
