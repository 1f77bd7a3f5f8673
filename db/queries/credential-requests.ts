import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { rowsOf } from "./rows.ts";
import { deleteWhere } from "./slices.ts";

export interface CredentialRequestRow {
  purpose: "code" | "reset";
  channel: "email" | "sms";
  emailKey: string;
  realm: string;
}

/** Notes a request and returns its id; null when `maxWaiting` wait already. */
export async function insertRequest(
  em: EntityManager,
  { purpose, channel, emailKey, realm }: CredentialRequestRow,
  { now, maxWaiting }: { now: Date; maxWaiting: number },
): Promise<number | null> {
  const rows = await rowsOf(
    em,
    sql<{ id: number }>`
      insert into credential_requests (purpose, channel, email_key, realm, created_at)
      select ${purpose}, ${channel}, ${emailKey}, ${realm}, ${now}::timestamptz
      where not exists (select 1 from credential_requests offset ${maxWaiting - 1})
      returning id`,
  );
  return rows[0]?.id ?? null;
}

/** Takes a request away; of any number at once one gets it, and a rollback puts it back. */
export async function takeRequest(
  em: EntityManager,
  id: number,
): Promise<(CredentialRequestRow & { createdAtMs: number }) | null> {
  const rows = await rowsOf(
    em,
    sql<CredentialRequestRow & { createdAtMs: number }>`
      delete from credential_requests where id = ${id}
      returning purpose, channel, email_key as "emailKey", realm,
        (extract(epoch from created_at) * 1000)::float8 as "createdAtMs"`,
  );
  return rows[0] ?? null;
}

/** Requests that have waited since `before`: their job was lost. */
export async function listForgottenRequests(
  em: EntityManager,
  { before, limit }: { before: Date; limit: number },
): Promise<number[]> {
  const rows = await rowsOf(
    em,
    sql<{ id: number }>`select id from credential_requests
      where created_at < ${before} order by id limit ${limit}`,
  );
  return rows.map(({ id }) => id);
}

/** Deletes what is of no use any more. `before` is for ended sessions, which are kept a while. */
export async function purgeCredentials(
  em: EntityManager,
  { now, before }: { now: Date; before: Date },
): Promise<void> {
  // A code's row also counts how many were made lately.
  await deleteWhere(em, "sign_in_codes", sql`window_started_at < ${before}`);
  await deleteWhere(em, "password_resets", sql`expires_at < ${now}`);
  await deleteWhere(em, "used_tokens", sql`expires_at < ${now}`);
  await deleteWhere(em, "token_families", sql`ends_at < ${before}`);
}
