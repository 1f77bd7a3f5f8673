import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import type { MessageContent } from "../../entities/message.ts";
import type { Origin } from "../../../server/platform/origin.ts";
import { anyOf } from "../expressions.ts";
import { changeRows, findRow, findRows } from "../rows.ts";
import { deleteWhere, inBatches } from "../batches.ts";

export interface NewMessageRow {
  kind: "mail" | "sms";
  template: string;
  locale: string;
  realm: string | null;
  recipient: string;
  sealed: string;
  now: Date;
  expiresAt: Date;
  origin: Origin;
}

export interface MessageBounds {
  /** Bound on all waiting messages together. */
  maxWaiting: number;
  /** Bound on messages of `templates` to one recipient from `since` up to now (S40); null = unbounded. */
  maxRecent: number | null;
  templates: readonly string[];
  since: Date;
}

/** Matches the condition of the partial index on waiting messages. */
const isWaiting = sql<boolean>`status in ('queued', 'sending')`;

/**
 * Inserts a message and returns its id, or null if a bound is reached. Concurrent inserts do not see each
 * other, so a bound may be exceeded by as many as run at once.
 */
export async function insertMessage(
  em: EntityManager,
  { kind, now, expiresAt, origin, ...rest }: NewMessageRow,
  bounds: MessageBounds,
): Promise<number | null> {
  const { maxRecent } = bounds;
  const row = await findRow(em, (db) => {
    const message = db
      .selectNoFrom((eb) => [
        sql<"mail" | "sms">`${kind}`.as("kind"),
        eb.val(rest.template).as("template"),
        eb.val(rest.locale).as("locale"),
        eb.val(rest.realm).as("realm"),
        eb.val(rest.recipient).as("recipient"),
        eb.val(rest.sealed).as("sealed"),
        sql<Date>`${now}::timestamptz`.as("created_at"),
        sql<Date>`${expiresAt}::timestamptz`.as("expires_at"),
        eb.val(origin.requestId).as("request_id"),
        sql<number | null>`${origin.playerId}::int`.as("player_id"),
        eb.val(origin.room).as("room"),
      ])
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom("messages")
              .select("id")
              .where(isWaiting)
              .offset(bounds.maxWaiting - 1),
          ),
        ),
      );
    const recent = db
      .selectFrom("messages")
      .select("id")
      .where("recipient", "=", rest.recipient)
      .where("created_at", ">", bounds.since)
      .where("created_at", "<=", now)
      .where("template", "=", anyOf(bounds.templates, "text"));
    return db
      .insertInto("messages")
      .columns([
        "kind",
        "template",
        "locale",
        "realm",
        "recipient",
        "sealed",
        "created_at",
        "expires_at",
        "request_id",
        "player_id",
        "room",
      ])
      .expression(
        maxRecent === null
          ? message
          : message.where(({ not, exists }) => not(exists(recent.offset(maxRecent - 1)))),
      )
      .returning("id");
  });
  return row?.id ?? null;
}

/** Deletes a message inserted in the same transaction. */
export async function withdrawMessage(em: EntityManager, id: number): Promise<void> {
  await changeRows(em, (db) => db.deleteFrom("messages").where("id", "=", id));
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
 * Claims a message for one attempt; of several concurrent callers one gets it. Null if it is finished,
 * deleted, or another attempt has held it since `leaseStart`. A failed message can be claimed too, since an
 * operator may retry it.
 */
export function claimMessage(
  em: EntityManager,
  id: number,
  { now, leaseStart }: { now: Date; leaseStart: Date },
): Promise<ClaimedMessage | null> {
  return findRow(em, (db) =>
    db
      .updateTable("messages")
      .set((eb) => ({ status: "sending", claimed_at: now, attempts: eb("attempts", "+", 1) }))
      .where("id", "=", id)
      .where((eb) =>
        eb.or([
          eb("status", "in", ["queued", "failed"]),
          eb.and([eb("status", "=", "sending"), eb("claimed_at", "<=", leaseStart)]),
        ]),
      )
      .returning([
        "id",
        "kind",
        "template",
        "locale",
        "realm",
        "recipient",
        "sealed",
        "attempts",
        sql<boolean>`expires_at <= ${now}`.as("isExpired"),
      ]),
  );
}

export const messageStatuses = ["queued", "sending", "sent", "failed", "expired"] as const;
export type MessageStatus = (typeof messageStatuses)[number];

export async function findMessageStatus(
  em: EntityManager,
  id: number,
): Promise<MessageStatus | null> {
  const row = await findRow(em, (db) =>
    db.selectFrom("messages").select("status").where("id", "=", id),
  );
  return row?.status ?? null;
}

/**
 * Records the outcome of an attempt unless a later attempt has begun: a process that froze while sending
 * must not overwrite it. The sealed content is kept only while another attempt may follow.
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
  const { status, now, error, content } = outcome;
  const keepsSealed = status === "queued" || status === "failed";
  await changeRows(em, (db) =>
    db
      .updateTable("messages")
      .set((eb) => ({
        status,
        last_error: error,
        content,
        sealed: keepsSealed ? eb.ref("sealed") : null,
        sent_at: status === "sent" ? now : null,
      }))
      .where("id", "=", id)
      .where("attempts", "=", attempts),
  );
}

/** Ends expired messages and erases their content. Returns their number. */
export function expireMessages(
  em: EntityManager,
  { now, leaseStart }: { now: Date; leaseStart: Date },
): Promise<number> {
  // Raw SQL: rows by ctid, in batches.
  return inBatches(
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

export interface OrphanedMessage {
  id: number;
  /** That of the message, for its new job. */
  origin: Origin;
}

/** Messages that have waited since `before` or whose sender died: their job was lost. */
export async function listOrphaned(
  em: EntityManager,
  { before, limit }: { before: Date; limit: number },
): Promise<OrphanedMessage[]> {
  const rows = await findRows(em, (db) =>
    db
      .selectFrom("messages")
      .select(["id", "request_id as requestId", "player_id as playerId", "room"])
      .where(isWaiting)
      .where("created_at", "<=", before)
      .where((eb) => eb.fn.coalesce("claimed_at", "created_at"), "<=", before)
      .orderBy("created_at")
      .limit(limit),
  );
  return rows.map(({ id, ...origin }) => ({ id, origin }));
}

/** Deletes messages older than `before`, and all but the newest `maxKept` that the inbox shows. */
export async function purgeMessages(
  em: EntityManager,
  { before, maxKept }: { before: Date; maxKept: number },
): Promise<void> {
  await deleteWhere(em, "messages", (eb) => eb("created_at", "<=", before));
  await deleteWhere(em, "messages", (eb) =>
    eb.and([
      eb("content", "is not", null),
      eb("id", "<=", (of) =>
        of
          .selectFrom("messages")
          .select("id")
          .where("content", "is not", null)
          .orderBy("id", "desc")
          .offset(maxKept)
          .limit(1),
      ),
    ]),
  );
}

/** Deletes finished verifications and subscribers that were never verified. */
export async function purgeUnverified(
  em: EntityManager,
  { now, before }: { now: Date; before: Date },
): Promise<void> {
  await deleteWhere(em, "email_verifications", (eb) => eb("expires_at", "<=", now));
  await deleteWhere(em, "subscribers", (eb) =>
    eb.and([
      eb("verified_at", "is", null),
      eb("unsubscribed_at", "is", null),
      eb("updated_at", "<=", before),
    ]),
  );
}
