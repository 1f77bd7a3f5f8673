import Type from "typebox";
import { normalizeEmail } from "../platform/text/account-names.ts";
import { maxOutboxMessages } from "../features/delivery/domain/outbox.ts";
import { buildOpenApi } from "../http/openapi/openapi.ts";
import { serviceVersion } from "../http/replies/envelope.ts";
import { bytesReply, media, reply, type Route } from "../http/pipeline/route.ts";
import { avatarRoutes } from "./avatars/routes.ts";
import { defineOperatorRoute } from "./define.ts";
import { jobRoutes } from "./jobs/routes.ts";
import { LobbiesBody, presentLobbies } from "./rooms/lobbies.ts";
import { orNull } from "./schemas.ts";
import { playerRoutes } from "./players/routes.ts";
import { questionRoutes } from "./questions/routes.ts";
import { roomRoutes } from "./rooms/routes.ts";
import { readiness, Readiness } from "./workers/processes.ts";
import type { Sources } from "./deps.ts";
import { workerRoutes } from "./workers/routes.ts";
import { ReconciliationBody, presentReconciliation } from "./wallets/wallets.ts";
import { Timestamp } from "../platform/schemas.ts";

const metricsType = "text/plain; version=0.0.4; charset=utf-8";
/** An address, a number, or a part of one that cannot be either. */
const maxRecipient = 320;

const MessageBody = Type.Object({
  id: Type.Integer(),
  kind: Type.Union([Type.Literal("mail"), Type.Literal("sms")]),
  template: Type.String(),
  to: Type.String(),
  status: Type.String(),
  attempts: Type.Integer(),
  last_error: orNull(Type.String()),
  subject: orNull(Type.String()),
  text: orNull(Type.String()),
  html: orNull(Type.String()),
  code: orNull(Type.String()),
  links: Type.Array(Type.String()),
  created_at: Timestamp,
});

/** Health checks for machines; responses contain no more than necessary (OPS-04). */
const healthRoutes = (
  sources: Pick<Sources, "processes" | "stores" | "moderators" | "metrics">,
) => [
  defineOperatorRoute({
    method: "GET",
    path: "/live",
    summary: "200 while the operator process runs",
    auth: "open",
    source: "OPS-04",
    responses: { 200: Type.Object({ status: Type.String() }) },
    errors: [],
    handler: () => reply(200, { status: "ok" }),
  }),
  defineOperatorRoute({
    method: "GET",
    path: "/ready",
    summary: "200 if every process and store responds, else 503",
    auth: "open",
    source: "OPS-04",
    responses: { 200: Readiness, 503: Readiness },
    errors: [],
    handler: async () => {
      const body = await readiness(sources);
      return body.status === "ok" ? reply(200, body) : reply(503, body);
    },
  }),
  defineOperatorRoute({
    method: "GET",
    path: "/metrics",
    summary: "Prometheus metrics, summed over all processes; without a token for this machine only",
    auth: "local",
    source: "OPS-04",
    responses: { 200: media("text/plain") },
    errors: [],
    handler: async () => bytesReply(200, metricsType, await sources.metrics()),
  }),
];

const viewRoutes = (sources: Pick<Sources, "lobbies" | "outbox" | "wallets">) => [
  defineOperatorRoute({
    method: "GET",
    path: "/operator/lobbies",
    summary: "Processes that hold lobbies, with up to 100 lobbies in memory each",
    auth: "viewer",
    source: "OPS-04",
    responses: { 200: LobbiesBody },
    errors: [],
    handler: async () => reply(200, presentLobbies(await sources.lobbies())),
  }),
  defineOperatorRoute({
    method: "GET",
    path: "/operator/outbox",
    summary: "Messages, newest first; with their content outside production only",
    auth: "viewer",
    source: "OPS-04, BOOT-05",
    query: Type.Object({
      kind: Type.Optional(Type.Union([Type.Literal("mail"), Type.Literal("sms")])),
      to: Type.Optional(Type.String({ maxLength: maxRecipient, plus: true })),
      limit: Type.Integer({ minimum: 1, maximum: maxOutboxMessages, default: maxOutboxMessages }),
    }),
    responses: { 200: Type.Object({ messages: Type.Array(MessageBody) }) },
    errors: [],
    handler: async ({ query: { kind, to, limit } }) => {
      const recipient = to === undefined ? null : (normalizeEmail(to) ?? to);
      const messages = await sources.outbox({ kind: kind ?? null, to: recipient, limit });
      return reply(200, { messages });
    },
  }),
  defineOperatorRoute({
    method: "GET",
    path: "/operator/wallets",
    summary: "Runs of the ledger reconciliation, and differences, newest first",
    auth: "viewer",
    source: "WAL-08",
    responses: { 200: ReconciliationBody },
    errors: [],
    handler: async () => reply(200, presentReconciliation(await sources.wallets())),
  }),
];

/** Every route of the operator listener except the pages (page-routes.ts, board.ts). */
export function operatorRoutes(sources: Sources): readonly Route<unknown>[] {
  const routes: Route<unknown>[] = [
    ...healthRoutes(sources),
    ...viewRoutes(sources),
    ...workerRoutes(sources),
    ...roomRoutes(sources),
    ...jobRoutes(sources.jobs, sources.audit),
    ...playerRoutes(sources.players),
    ...avatarRoutes(sources.avatars),
    ...questionRoutes(sources.questions),
  ];
  routes.push(
    defineOperatorRoute({
      method: "GET",
      path: "/operator/openapi.json",
      summary: "This API as an OpenAPI 3.1 document",
      auth: "viewer",
      source: "BOOT-04",
      responses: { 200: media("application/json") },
      errors: [],
      handler: () => bytesReply(200, "application/json", JSON.stringify(operatorDocument(routes))),
    }),
  );
  return routes;
}

export function operatorDocument(routes: readonly Route<unknown>[]): object {
  return buildOpenApi(routes, { title: "emberline operator", version: serviceVersion });
}
