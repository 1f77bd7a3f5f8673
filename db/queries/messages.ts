import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import type { MessageContent } from "../entities/message.ts";
import { rowsOf } from "./rows.ts";

export interface NewMessageRow {
  kind: "mail" | "sms";
  template: string;
  locale: string;
  recipient: string;
  sealed: string;
  now: Date;
  expiresAt: Date;
}

export interface MessageBounds {
  /** Messages that wait altogether. */
  maxWaiting: number;
  /** Messages to one recipient since `since`; null = any number. */
  maxRecent: number | null;
  since: Date;
}

/**
 * Adds a message and returns its id, or null when there are too many already. Simultaneous
 * inserts do not see each other, so a bound may be passed by as many as run at once.
 */
export async function insertMessage(
  em: EntityManager,
  row: NewMessageRow,
  bounds: MessageBounds,
): Promise<number | null> {
  const isWithin =
    bounds.maxRecent === null
      ? sql`true`
      : sql`(select count(*) from (select 1 from messages
          where recipient = ${row.recipient} and created_at > ${bounds.since}
          limit ${bounds.maxRecent}) recent) < ${bounds.maxRecent}`;
  const rows = await rowsOf(
    em,
    sql<{ id: number }>`
      insert into messages (kind, template, locale, recipient, sealed, created_at, expires_at)
      select ${row.kind}, ${row.template}, ${row.locale}, ${row.recipient}, ${row.sealed},
        ${row.now}::timestamptz, ${row.expiresAt}::timestamptz
      where ${isWithin} and not exists (select 1 from messages
        where status in ('queued', 'sending') offset ${bounds.maxWaiting - 1})
      returning id`,
  );
  return rows[0]?.id ?? null;
}

export interface ClaimedMessage {
  id: number;
  kind: "mail" | "sms";
  template: string;
  locale: string;
  recipient: string;
  sealed: string | null;
  attempts: number;
  isExpired: boolean;
}

/**
 * Takes a message for one attempt; of any number at once one gets it. Null when it is done, gone,
 * or being sent since `leaseStart`. A failed one is taken too: an operator may have it tried again.
 */
export async function claimMessage(
  em: EntityManager,
  id: number,
  { now, leaseStart }: { now: Date; leaseStart: Date },
): Promise<ClaimedMessage | null> {
  const rows = await rowsOf(
    em,
    sql<ClaimedMessage>`
      update messages set status = 'sending', claimed_at = ${now}, attempts = attempts + 1
      where id = ${id} and (status in ('queued', 'failed')
        or (status = 'sending' and claimed_at <= ${leaseStart}))
      returning id, kind, template, locale, recipient, sealed, attempts,
        expires_at <= ${now} as "isExpired"`,
  );
  return rows[0] ?? null;
}

export type MessageStatus = "queued" | "sending" | "sent" | "failed" | "expired";

export async function findMessageStatus(
  em: EntityManager,
  id: number,
): Promise<MessageStatus | null> {
  const rows = await rowsOf(
    em,
    sql<{ status: MessageStatus }>`select status from messages where id = ${id}`,
  );
  return rows[0]?.status ?? null;
}

/**
 * Ends an attempt, unless a later one has begun: a process that froze while sending must not speak
 * for it. What was sealed is kept only while another attempt may follow.
 */
export async function settleMessage(
  em: EntityManager,
  { id, attempts }: Pick<ClaimedMessage, "id" | "attempts">,
  outcome: {
    status: "queued" | "sent" | "failed" | "expired";
    now: Date;
    error: string | null;
    content: MessageContent | null;
  },
): Promise<void> {
  const { status, now, error } = outcome;
  const content = outcome.content === null ? null : JSON.stringify(outcome.content);
  const keepsSealed = status === "queued" || status === "failed";
  await rowsOf(
    em,
    sql`update messages set status = ${status}, last_error = ${error},
        content = ${content}::jsonb, sealed = case when ${keepsSealed} then sealed end,
        sent_at = case when ${status === "sent"} then ${now}::timestamptz end
      where id = ${id} and attempts = ${attempts}`,
  );
}
