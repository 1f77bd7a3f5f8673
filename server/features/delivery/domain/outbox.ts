import type { EntityManager } from "@mikro-orm/postgresql";
import {
  listOutbox,
  type OutboxFilter,
  type OutboxMessage,
} from "../../../../db/queries/delivery/outbox.ts";
import { messageStatuses } from "../../../../db/queries/delivery/messages.ts";
import { cutText } from "../../../platform/text/cut-text.ts";
import { timestamp } from "../../../platform/time/clock.ts";

/** A message as operators and the development inbox see it (BOOT-05). */
export interface PresentedMessage {
  id: number;
  kind: "mail" | "sms";
  template: string;
  to: string;
  status: string;
  attempts: number;
  last_error: string | null;
  /** Null until it is delivered, and always in production. */
  subject: string | null;
  text: string | null;
  html: string | null;
  code: string | null;
  links: string[];
  created_at: string;
}

/** The same, with the request that it goes back to. */
export interface OperatorMessage extends PresentedMessage {
  request_id: string | null;
}

/** States of a message. */
export const messageStates = messageStatuses;

/** Messages of one answer. */
export const maxOutboxMessages = 100;

export type MessageFilter = OutboxFilter;

/** Messages as operators see them, newest first (BOOT-05). */
export async function viewMessages(
  em: EntityManager,
  filter: MessageFilter,
  hasContent: boolean,
): Promise<OperatorMessage[]> {
  const found = await listOutbox(em, filter);
  return found.map((message) => ({
    ...presentMessage(message, hasContent),
    request_id: message.requestId,
  }));
}

/** In production an operator sees the outcome of a message, never its content (OPS-04, S29). */
export function presentMessage(message: OutboxMessage, hasContent: boolean): PresentedMessage {
  const content = hasContent ? message.content : null;
  const { id, kind, template, to, status, attempts, lastError } = message;
  return {
    id,
    kind,
    template,
    to: hasContent ? to : masked(to),
    status,
    attempts,
    last_error: lastError,
    subject: content?.subject ?? null,
    text: content?.text ?? null,
    html: content?.html ?? null,
    code: content?.code ?? null,
    links: content?.links ?? [],
    created_at: timestamp(message.createdAtMs),
  };
}

/** An address or number as an operator may see it: `a***@example.com`, `+4***89` (OPS-03). */
export function masked(to: string): string {
  const [local = "", domain] = to.split("@");
  if (domain === undefined) return `${to.slice(0, 2)}***${to.slice(-2)}`;
  return `${cutText(local, 1)}***@${domain}`;
}
