import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import type { MessageContent } from "../entities/message.ts";
import { rowsOf } from "./rows.ts";
import { deleteWhere, inSlices } from "./slices.ts";

export interface NewMessageRow {
  kind: "mail" | "sms";
  template: string;
  locale: string;
  realm: string | null;
  recipient: string;
  sealed: string;
  now: Date;
  expiresAt: Date;
}

export interface MessageBounds {
  /** Messages that wait altogether. */
  maxWaiting: number;
  /** Messages of `templates` to one recipient since `since`, not later than now (S40); null = any number. */
  maxRecent: number | null;
  templates: readonly string[];
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
            and created_at <= ${row.now} and template = any(${[...bounds.templates]}::text[])
          limit ${bounds.maxRecent}) recent) < ${bounds.maxRecent}`;
  const rows = await rowsOf(
    em,
    sql<{ id: number }>`
      insert into messages (kind, template, locale, realm, recipient, sealed, created_at, expires_at)
      select ${row.kind}, ${row.template}, ${row.locale}, ${row.realm}, ${row.recipient}, ${row.sealed},
        ${row.now}::timestamptz, ${row.expiresAt}::timestamptz
      where ${isWithin} and not exists (select 1 from messages
        where status in ('queued', 'sending') offset ${bounds.maxWaiting - 1})
      returning id`,
  );
  return rows[0]?.id ?? null;
}

/** Takes a message back that was written in the same transaction. */
export async function withdrawMessage(em: EntityManager, id: number): Promise<void> {
  await rowsOf(em, sql`delete from messages where id = ${id}`);
}

export interface ClaimedMessage {
  id: number;
  kind: "mail" | "sms";
  template: string;
  locale: string;
  realm: string | null;
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
      returning id, kind, template, locale, realm, recipient, sealed, attempts,
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

/** Ends what is of no use any more and forgets what it said. Returns the number of messages. */
export function expireMessages(
  em: EntityManager,
  { now, leaseStart }: { now: Date; leaseStart: Date },
): Promise<number> {
  return inSlices(
    em,
    (limit) => sql`
      update messages set status = case when status = 'failed' then 'failed' else 'expired' end,
        sealed = null
      where ctid = any(array(
        select ctid from messages where expires_at <= ${now} and sealed is not null
          and (status in ('queued', 'failed') or (status = 'sending' and claimed_at <= ${leaseStart}))
        limit ${limit}))`,
  );
}

/** Messages that wait since `before` or longer, or whose sender died: their job was lost. */
export async function listStranded(
  em: EntityManager,
  { before, limit }: { before: Date; limit: number },
): Promise<number[]> {
  const rows = await rowsOf(
    em,
    sql<{ id: number }>`
      select id from messages where status in ('queued', 'sending') and created_at <= ${before}
        and coalesce(claimed_at, created_at) <= ${before}
      order by created_at limit ${limit}`,
  );
  return rows.map((row) => row.id);
}

/** Deletes messages older than `before`, and all but the newest `maxKept` of those the inbox shows. */
export async function purgeMessages(
  em: EntityManager,
  { before, maxKept }: { before: Date; maxKept: number },
): Promise<void> {
  await deleteWhere(em, "messages", sql`created_at <= ${before}`);
  await deleteWhere(
    em,
    "messages",
    sql`content is not null and id <=
      (select id from messages where content is not null order by id desc offset ${maxKept} limit 1)`,
  );
}

/** Deletes verifications that have ended and addresses that were never verified. */
export async function purgeUnverified(
  em: EntityManager,
  { now, before }: { now: Date; before: Date },
): Promise<void> {
  await deleteWhere(em, "email_verifications", sql`expires_at <= ${now}`);
  await deleteWhere(
    em,
    "subscribers",
    sql`verified_at is null and unsubscribed_at is null and updated_at <= ${before}`,
  );
}
