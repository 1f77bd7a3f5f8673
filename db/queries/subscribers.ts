import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { rowsOf } from "./rows.ts";

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
 * Puts an address on the list, to be verified; its earlier token is void. False when it is verified
 * already: whoever asks now may be somebody else, so nothing of it changes (SYS-04).
 */
export async function upsertSubscriber(em: EntityManager, s: NewSubscription): Promise<boolean> {
  const rows = await rowsOf(
    em,
    sql`insert into subscribers (email, email_key, channels, locale, realm, verify_hash,
        verify_expires_at, created_at, updated_at)
      values (${s.email}, ${s.emailKey}, ${[...s.channels]}::text[], ${s.locale}, ${s.realm}, ${s.verifyHash},
        ${s.verifyExpiresAt}, ${s.now}, ${s.now})
      on conflict (email_key) do update set email = excluded.email, channels = excluded.channels,
        locale = excluded.locale, realm = excluded.realm, verify_hash = excluded.verify_hash,
        verify_expires_at = excluded.verify_expires_at, verified_at = null, unsubscribed_at = null,
        updated_at = excluded.updated_at
      where subscribers.verified_at is null or subscribers.unsubscribed_at is not null
      returning id`,
  );
  return rows.length > 0;
}

export interface ListToken {
  emailKey: string;
  verifyHash: string;
}

/** Uses a token up; language and realm of the subscriber, or null when the token is not good. */
export async function verifySubscriber(
  em: EntityManager,
  { emailKey, verifyHash }: ListToken,
  now: Date,
): Promise<{ locale: string; realm: string | null } | null> {
  const rows = await rowsOf(
    em,
    sql<{ locale: string; realm: string | null }>`
      update subscribers set verified_at = ${now}, verify_hash = null, verify_expires_at = null,
        updated_at = ${now}
      where email_key = ${emailKey} and verify_hash = ${verifyHash}
        and verify_expires_at > ${now} and unsubscribed_at is null
      returning locale, realm`,
  );
  return rows[0] ?? null;
}

/** Whether `verifySubscriber` would succeed. */
export async function isListTokenOpen(
  em: EntityManager,
  { emailKey, verifyHash }: ListToken,
  now: Date,
): Promise<boolean> {
  const rows = await rowsOf(
    em,
    sql`select 1 from subscribers where email_key = ${emailKey} and verify_hash = ${verifyHash}
      and verify_expires_at > ${now} and unsubscribed_at is null`,
  );
  return rows.length > 0;
}

/** Ends a subscription, the first time and every time; false when the address is not on the list. */
export async function endSubscription(
  em: EntityManager,
  emailKey: string,
  now: Date,
): Promise<boolean> {
  const rows = await rowsOf(
    em,
    sql`update subscribers set unsubscribed_at = coalesce(unsubscribed_at, ${now}::timestamptz),
        verify_hash = null, verify_expires_at = null, updated_at = ${now}
      where email_key = ${emailKey} returning id`,
  );
  return rows.length > 0;
}

export async function isOnList(em: EntityManager, emailKey: string): Promise<boolean> {
  const rows = await rowsOf(em, sql`select 1 from subscribers where email_key = ${emailKey}`);
  return rows.length > 0;
}
