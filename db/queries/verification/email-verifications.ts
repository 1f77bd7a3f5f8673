import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import type { ClosedAccount } from "../accounts/accounts.ts";
import { changeRows, findRow } from "../rows.ts";

export interface Verification {
  playerId: number;
  tokenHash: string;
  emailKey: string;
}

/** Makes this the account's only token (S4). */
export async function saveVerification(
  em: EntityManager,
  { playerId, tokenHash, emailKey, expiresAt }: Verification & { expiresAt: Date },
): Promise<void> {
  await changeRows(em, (db) =>
    db
      .insertInto("email_verifications")
      .values({
        player_id: playerId,
        token_hash: tokenHash,
        email_key: emailKey,
        expires_at: expiresAt,
      })
      .onConflict((conflict) =>
        conflict.column("player_id").doUpdateSet((eb) => ({
          token_hash: eb.ref("excluded.token_hash"),
          email_key: eb.ref("excluded.email_key"),
          expires_at: eb.ref("excluded.expires_at"),
        })),
      ),
  );
}

/**
 * Consumes a token and marks the address as verified, in one statement; false if the token is not valid.
 * Locks the account first, like every writer of an account.
 */
export async function useVerification(
  em: EntityManager,
  { playerId, tokenHash, emailKey }: Verification,
  now: Date,
): Promise<boolean> {
  const numChanged = await changeRows(em, (db) =>
    db
      .with("account", (account) =>
        account
          .selectFrom("players")
          .select("id")
          .where("id", "=", playerId)
          .where("email_key", "=", emailKey)
          .where("deleted_at", "is", null)
          .forNoKeyUpdate(),
      )
      .with("used", (used) =>
        used
          .deleteFrom("email_verifications as v")
          .using("account as a")
          .whereRef("v.player_id", "=", "a.id")
          .where("v.token_hash", "=", tokenHash)
          .where("v.email_key", "=", emailKey)
          .where("v.expires_at", ">", now)
          .returning("v.player_id"),
      )
      .updateTable("players as p")
      .from("used")
      .set((eb) => ({
        email_verified_at: eb.fn.coalesce("p.email_verified_at", sql<Date>`${now}::timestamptz`),
        address_ip: null,
        address_agent: null,
        address_device: null,
      }))
      .whereRef("p.id", "=", "used.player_id"),
  );
  return numChanged > 0;
}

/** Whether `useVerification` would succeed. */
export async function isVerificationOpen(
  em: EntityManager,
  { playerId, tokenHash, emailKey }: Verification,
  now: Date,
): Promise<boolean> {
  const open = await findRow(em, (db) =>
    db
      .selectFrom("email_verifications as v")
      .innerJoin("players as p", "p.id", "v.player_id")
      .select("p.id")
      .where("v.player_id", "=", playerId)
      .where("v.token_hash", "=", tokenHash)
      .where("v.email_key", "=", emailKey)
      .where("v.expires_at", ">", now)
      .whereRef("p.email_key", "=", "v.email_key")
      .where("p.deleted_at", "is", null),
  );
  return open !== null;
}

/**
 * Deletes what a closed account leaves behind: its open verification and the subscription of its address. A
 * confirmed subscription is deleted only if the account had verified the address.
 */
export async function clearAddress(
  em: EntityManager,
  playerId: number,
  { emailKey, isProven }: ClosedAccount,
): Promise<void> {
  await changeRows(em, (db) =>
    db.deleteFrom("email_verifications").where("player_id", "=", playerId),
  );
  await changeRows(em, (db) => {
    const own = db.deleteFrom("subscribers").where("email_key", "=", emailKey);
    return isProven ? own : own.where("verified_at", "is", null);
  });
}
