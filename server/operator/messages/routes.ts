import Type from "typebox";
import { normalizeEmail } from "../../platform/text/account-names.ts";
import { Id } from "../../platform/schemas.ts";
import type { MessageFilter, OperatorMessage } from "../../features/delivery/domain/outbox.ts";
import { pageOf } from "../../http/pipeline/pagination.ts";
import { reply, routesWith } from "../../http/pipeline/route.ts";
import { outboxPage, outboxPath, playerMessagesPage } from "./page.ts";
import { OutboxBody, OutboxQuery, PlayerMessagesBody, PlayerMessagesQuery } from "./schemas.ts";

export interface MessagesDeps {
  outbox(filter: MessageFilter): Promise<OperatorMessage[]>;
  /** Rejects with `player:not_found`. */
  playerMessages(
    playerId: number,
    page: { limit: number; cursor: number | null },
  ): Promise<{ name: string; messages: OperatorMessage[] }>;
}

const defineRoute = routesWith<MessagesDeps>();
const tag = "Operator";

/** Mails and text messages (OPS-04, BOOT-05). */
export const messageRoutes = [
  defineRoute({
    method: "GET",
    path: outboxPath,
    tag,
    summary: "Messages, newest first; with their content outside production only",
    auth: "viewer",
    source: "OPS-04, OPS-80, BOOT-05",
    query: OutboxQuery,
    responses: { 200: OutboxBody },
    page: outboxPage,
    errors: [],
    handler: async ({ deps, query }) => {
      const { kind = null, status = null, cursor = null, limit } = query;
      const given = query.to?.trim() ?? "";
      const to = given === "" ? null : (normalizeEmail(given) ?? given);
      const found = await deps.outbox({ kind, status, to, cursor, limit: limit + 1 });
      const { page: messages, next } = pageOf(found, limit);
      return reply(200, { messages, next });
    },
  }),
  defineRoute({
    method: "GET",
    path: "/operator/players/{id}/messages",
    tag,
    summary: "Messages to the present address and number of a player, newest first",
    auth: "viewer",
    source: "OPS-80",
    params: Type.Object({ id: Id }),
    query: PlayerMessagesQuery,
    notFoundCode: "player:not_found",
    responses: { 200: PlayerMessagesBody },
    page: playerMessagesPage,
    errors: ["player:not_found"],
    handler: async ({ deps, params: { id }, query: { limit, cursor = null } }) => {
      const found = await deps.playerMessages(id, { limit: limit + 1, cursor });
      const { page: messages, next } = pageOf(found.messages, limit);
      return reply(200, { player: { id, name: found.name }, messages, next });
    },
  }),
];
