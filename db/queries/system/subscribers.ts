import type { EntityManager } from "@mikro-orm/postgresql";
import { sql, type ExpressionBuilder } from "kysely";
import type { Database } from "../../database.ts";
import { changeRows, findRow } from "../rows.ts";

export interface NewSubscription {
  email: string;
  emailKey: string;
  channels: readonly string[];
  locale: string;
  realm: string;
  verifyHash: string;
  verifyExpiresAt: Date;
  now: Date;
}

/**
 * Adds an unverified address to the list and voids its earlier token. False, without a change, if it is
 * already verified: the requester may not be its owner (SYS-04).
 */
export async function upsertSubscriber(em: EntityManager, s: NewSubscription): Promise<boolean> {
  const numSaved = await changeRows(em, (db) =>
    db
      .insertInto("subscribers")
      .values({
        email: s.email,
        email_key: s.emailKey,
        channels: [...s.channels],
        locale: s.locale,
        realm: s.realm,
        verify_hash: s.verifyHash,
        verify_expires_at: s.verifyExpiresAt,
        created_at: s.now,
        updated_at: s.now,
      })
      .onConflict((conflict) =>
        conflict
          .column("email_key")
          .doUpdateSet((eb) => ({
            email: eb.ref("excluded.email"),
            channels: eb.ref("excluded.channels"),
            locale: eb.ref("excluded.locale"),
            realm: eb.ref("excluded.realm"),
            verify_hash: eb.ref("excluded.verify_hash"),
            verify_expires_at: eb.ref("excluded.verify_expires_at"),
            verified_at: null,
            unsubscribed_at: null,
            updated_at: eb.ref("excluded.updated_at"),
          }))
          .where((eb) =>
            eb.or([
              eb("subscribers.verified_at", "is", null),
              eb("subscribers.unsubscribed_at", "is not", null),
            ]),
          ),
      ),
  );
  return numSaved > 0;
}

export interface ListToken {
  emailKey: string;
  verifyHash: string;
}

const isTokenValid =
  ({ emailKey, verifyHash }: ListToken, now: Date) =>
  (eb: ExpressionBuilder<Database, "subscribers">) =>
    eb.and([
      eb("email_key", "=", emailKey),
      eb("verify_hash", "=", verifyHash),
      eb("verify_expires_at", ">", now),
      eb("unsubscribed_at", "is", null),
    ]);

/** Consumes a token and returns the subscriber's language and realm; null if the token is not valid. */
export function verifySubscriber(
  em: EntityManager,
  token: ListToken,
  now: Date,
): Promise<{ locale: string; realm: string | null } | null> {
  return findRow(em, (db) =>
    db
      .updateTable("subscribers")
      .set({ verified_at: now, verify_hash: null, verify_expires_at: null, updated_at: now })
      .where(isTokenValid(token, now))
      .returning(["locale", "realm"]),
  );
}

/** Whether `verifySubscriber` would succeed. */
export async function isListTokenOpen(
  em: EntityManager,
  token: ListToken,
  now: Date,
): Promise<boolean> {
  const open = await findRow(em, (db) =>
    db.selectFrom("subscribers").select("id").where(isTokenValid(token, now)),
  );
  return open !== null;
}

/** Ends a subscription; idempotent. False if the address is not on the list. */
export async function endSubscription(
  em: EntityManager,
  emailKey: string,
  now: Date,
): Promise<boolean> {
  const numChanged = await changeRows(em, (db) =>
    db
      .updateTable("subscribers")
      .set((eb) => ({
        unsubscribed_at: eb.fn.coalesce("unsubscribed_at", sql<Date>`${now}::timestamptz`),
        verify_hash: null,
        verify_expires_at: null,
        updated_at: now,
      }))
      .where("email_key", "=", emailKey),
  );
  return numChanged > 0;
}

export async function isOnList(em: EntityManager, emailKey: string): Promise<boolean> {
  const row = await findRow(em, (db) =>
    db.selectFrom("subscribers").select("id").where("email_key", "=", emailKey),
  );
  return row !== null;
}
