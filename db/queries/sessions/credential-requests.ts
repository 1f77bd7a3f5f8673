import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { millis } from "../expressions.ts";
import { findRow, findRows } from "../rows.ts";
import { deleteWhere } from "../batches.ts";

export interface CredentialRequestRow {
  purpose: "code" | "reset";
  channel: "email" | "sms";
  emailKey: string;
  realm: string;
}

/** Inserts a request and returns its id; null if `maxWaiting` requests are already waiting. */
export async function insertRequest(
  em: EntityManager,
  { purpose, channel, emailKey, realm }: CredentialRequestRow,
  { now, maxWaiting }: { now: Date; maxWaiting: number },
): Promise<number | null> {
  const row = await findRow(em, (db) =>
    db
      .insertInto("credential_requests")
      .columns(["purpose", "channel", "email_key", "realm", "created_at"])
      .expression(
        db
          .selectNoFrom((eb) => [
            eb.val(purpose).as("purpose"),
            eb.val(channel).as("channel"),
            eb.val(emailKey).as("email_key"),
            eb.val(realm).as("realm"),
            sql<Date>`${now}::timestamptz`.as("created_at"),
          ])
          .where(({ not, exists, selectFrom }) =>
            not(
              exists(
                selectFrom("credential_requests")
                  .select("id")
                  .offset(maxWaiting - 1),
              ),
            ),
          ),
      )
      .returning("id"),
  );
  return row?.id ?? null;
}

/** Deletes and returns a request; of several concurrent callers one gets it, and a rollback restores it. */
export function takeRequest(
  em: EntityManager,
  id: number,
): Promise<(CredentialRequestRow & { createdAtMs: number }) | null> {
  return findRow(em, (db) =>
    db
      .deleteFrom("credential_requests")
      .where("id", "=", id)
      .returning([
        "purpose",
        "channel",
        "email_key as emailKey",
        "realm",
        millis("created_at").as("createdAtMs"),
      ]),
  );
}

/** Requests that have waited since `before`: their job was lost. */
export async function listOrphanedRequests(
  em: EntityManager,
  { before, limit }: { before: Date; limit: number },
): Promise<number[]> {
  const rows = await findRows(em, (db) =>
    db
      .selectFrom("credential_requests")
      .select("id")
      .where("created_at", "<", before)
      .orderBy("id")
      .limit(limit),
  );
  return rows.map(({ id }) => id);
}

/** Deletes expired credentials. `before` applies to ended sessions, which are kept for a while. */
export async function purgeCredentials(
  em: EntityManager,
  { now, before }: { now: Date; before: Date },
): Promise<void> {
  // The row also counts recent codes, so it outlives its code.
  await deleteWhere(em, "sign_in_codes", (eb) => eb("window_started_at", "<", before));
  await deleteWhere(em, "password_resets", (eb) => eb("expires_at", "<", now));
  await deleteWhere(em, "used_tokens", (eb) => eb("expires_at", "<", now));
  await deleteWhere(em, "token_families", (eb) => eb("ends_at", "<", before));
}
