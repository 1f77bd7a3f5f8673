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

/** Notes a request and returns its id; null when `maxWaiting` wait already. */
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

/** Takes a request away; of any number at once one gets it, and a rollback puts it back. */
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
export async function listForgottenRequests(
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

/** Deletes what is of no use any more. `before` is for ended sessions, which are kept a while. */
export async function purgeCredentials(
  em: EntityManager,
  { now, before }: { now: Date; before: Date },
): Promise<void> {
  // A code's row also counts how many were made lately.
  await deleteWhere(em, "sign_in_codes", (eb) => eb("window_started_at", "<", before));
  await deleteWhere(em, "password_resets", (eb) => eb("expires_at", "<", now));
  await deleteWhere(em, "used_tokens", (eb) => eb("expires_at", "<", now));
  await deleteWhere(em, "token_families", (eb) => eb("ends_at", "<", before));
}
