import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import type { MessageContent } from "../entities/message.ts";
import type { MessageStatus } from "./messages.ts";
import { rowsOf } from "./rows.ts";

export interface OutboxFilter {
  kind: "mail" | "sms" | null;
  /** Whole address or number. */
  to: string | null;
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
  /** null until it is delivered, and with drivers that keep nothing. */
  content: MessageContent | null;
  createdAtMs: number;
}

/** Messages, newest first. */
export async function listOutbox(
  em: EntityManager,
  filter: OutboxFilter,
): Promise<OutboxMessage[]> {
  const kind = filter.kind === null ? sql`` : sql`and kind = ${filter.kind}`;
  const to = filter.to === null ? sql`` : sql`and lower(recipient) = lower(${filter.to})`;
  return rowsOf(
    em,
    sql<OutboxMessage>`
      select id, kind, template, recipient as "to", status, attempts, last_error as "lastError",
        content, (extract(epoch from created_at) * 1000)::float8 as "createdAtMs"
      from messages where true ${kind} ${to} order by id desc limit ${filter.limit}`,
  );
}

export async function findOutboxHtml(em: EntityManager, id: number): Promise<string | null> {
  const rows = await rowsOf(
    em,
    sql<{ html: string | null }>`select content ->> 'html' as html from messages where id = ${id}`,
  );
  return rows[0]?.html ?? null;
}
