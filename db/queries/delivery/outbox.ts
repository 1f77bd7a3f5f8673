import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import type { MessageContent } from "../../entities/message.ts";
import type { MessageStatus } from "./messages.ts";
import { anyOf, millis, nullableMillis } from "../expressions.ts";
import { findRow, findRows } from "../rows.ts";

export interface OutboxFilter {
  kind: "mail" | "sms" | null;
  /** The complete address or number. */
  to: string | null;
  status?: MessageStatus | null;
  /** Only messages to one of these addresses and numbers, as they are stored. */
  recipients?: readonly string[];
  /** Only messages with a lower id. */
  cursor?: number | null;
  limit: number;
}

export interface OutboxMessage {
  id: number;
  kind: "mail" | "sms";
  template: string;
  to: string;
  status: MessageStatus;
  attempts: number;
  lastError: string | null;
  /** null until delivered, and with drivers that keep no copy. */
  content: MessageContent | null;
  createdAtMs: number;
  requestId: string | null;
}

/** Messages, newest first. */
export function listOutbox(em: EntityManager, filter: OutboxFilter): Promise<OutboxMessage[]> {
  return findRows(em, (db) => {
    let messages = db
      .selectFrom("messages")
      .select([
        "id",
        "kind",
        "template",
        "recipient as to",
        "status",
        "attempts",
        "last_error as lastError",
        "content",
        millis("created_at").as("createdAtMs"),
        "request_id as requestId",
      ])
      .orderBy("id", "desc")
      .limit(filter.limit);
    if (filter.kind !== null) messages = messages.where("kind", "=", filter.kind);
    if (filter.to !== null)
      messages = messages.where(sql`lower(recipient)`, "=", sql`lower(${filter.to})`);
    if (filter.status != null) messages = messages.where("status", "=", filter.status);
    if (filter.cursor != null) messages = messages.where("id", "<", filter.cursor);
    return filter.recipients === undefined
      ? messages
      : messages.where("recipient", "=", anyOf(filter.recipients, "text"));
  });
}

/** A message that goes back to a request, without its content. */
export interface MessageOfRequest extends Omit<OutboxMessage, "content" | "requestId"> {
  sentAtMs: number | null;
}

/** Messages that go back to a request, oldest first. */
export function listMessagesOfRequest(
  em: EntityManager,
  requestId: string,
  limit: number,
): Promise<MessageOfRequest[]> {
  return findRows(em, (db) =>
    db
      .selectFrom("messages")
      .select([
        "id",
        "kind",
        "template",
        "recipient as to",
        "status",
        "attempts",
        "last_error as lastError",
        millis("created_at").as("createdAtMs"),
        nullableMillis("sent_at").as("sentAtMs"),
      ])
      .where("request_id", "=", requestId)
      .orderBy("id")
      .limit(limit),
  );
}

export async function findOutboxHtml(em: EntityManager, id: number): Promise<string | null> {
  const row = await findRow(em, (db) =>
    db
      .selectFrom("messages")
      .select(sql<string | null>`content ->> 'html'`.as("html"))
      .where("id", "=", id),
  );
  return row?.html ?? null;
}
