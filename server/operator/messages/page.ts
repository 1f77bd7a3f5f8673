import type { Static } from "typebox";
import { masked, messageStates } from "../../features/delivery/domain/outbox.ts";
import type { OperatorCaller } from "../../http/auth/auth.ts";
import { requestLink } from "../requests/paths.ts";
import { html, type Html, type Value } from "../html.ts";
import { addressWith, moreLink, tabs } from "../links.ts";
import { marked, page, table, timeCell } from "../layout.ts";
import { playerLinks, playerPartPath } from "../players/links.ts";
import type { MessageBody, OutboxBody, OutboxQuery, PlayerMessagesBody } from "./schemas.ts";

export const outboxPath = "/operator/outbox";

type Query = Static<typeof OutboxQuery>;

interface OutboxView {
  body: Static<typeof OutboxBody>;
  query: Query;
  caller: OperatorCaller;
}

/** Mails and text messages, newest first (OPS-80); their content is in the JSON, outside production. */
export function outboxPage({ body: { messages, next }, query, caller }: OutboxView): Html {
  const { cursor: _, ...first } = query;
  const to = (change: Partial<Record<keyof Query, string | number | undefined>>) =>
    addressWith(outboxPath, { ...first, ...change });
  return page(
    { title: "Outbox", caller },
    html`<h1>Outbox</h1>
      ${tabs([
        [query.kind === undefined, to({ kind: undefined }), "All kinds"],
        [query.kind === "mail", to({ kind: "mail" }), "Mails"],
        [query.kind === "sms", to({ kind: "sms" }), "Text messages"],
      ])}
      ${tabs([
        [query.status === undefined, to({ status: undefined }), "All states"],
        ...messageStates.map(
          (status) => [query.status === status, to({ status }), status] as const,
        ),
      ])}
      <form action="${outboxPath}">
        ${[query.kind && hidden("kind", query.kind), query.status && hidden("status", query.status)]}
        <label for="to">Address or number, complete</label
        ><input id="to" name="to" value="${query.to}" autocomplete="off" />
        <p><button>Show</button></p>
      </form>
      ${messagesOf(messages, next, (cursor) => to({ cursor }))}`,
  );
}

const hidden = (name: string, value: string) =>
  html`<input type="hidden" name="${name}" value="${value}" />`;

interface PlayerView {
  body: Static<typeof PlayerMessagesBody>;
  query: { limit: number };
  caller: OperatorCaller;
}

/** Messages to the address and the number that a player has now. */
export const playerMessagesPage = ({ body, query: { limit }, caller }: PlayerView): Html => {
  const { player, messages, next } = body;
  const path = playerPartPath(player.id, "messages");
  return page(
    { title: `Messages of ${player.name}`, caller },
    html`<h1>Messages of ${player.name}</h1>
      ${playerLinks(player.id, "messages")}
      ${messagesOf(messages, next, (cursor) => addressWith(path, { limit, cursor }))}`,
  );
};

function messagesOf(
  messages: readonly MessageBody[],
  next: number | null,
  moreAt: (cursor: number) => string,
): Value {
  if (messages.length === 0) return html`<p>None.</p>`;
  const head = [
    "Id",
    "Created",
    "Kind",
    "Template",
    "To",
    "State",
    "Attempts",
    "Last error",
    "Request",
  ];
  return [table("Messages", head, messages.map(messageRow)), moreLink(next, moreAt)];
}

const messageRow = (message: MessageBody): Value[] => [
  message.id,
  timeCell(message.created_at),
  message.kind,
  message.template,
  // Outside production the JSON has it complete.
  masked(message.to),
  marked(message.status, message.status === "failed" || message.status === "expired"),
  message.attempts,
  message.last_error,
  requestLink(message.request_id),
];
