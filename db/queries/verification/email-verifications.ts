import type { EntityManager } from "@mikro-orm/postgresql";
import { expressionBuilder, sql } from "kysely";
import type { Database } from "../../database.ts";
import type { ClosedAccount } from "../accounts/accounts.ts";
import { changeRows, findRow } from "../rows.ts";

export interface Verification {
  playerId: number;
  tokenHash: string;
  emailKey: string;
}

type Tokens = { v: Database["email_verifications"] };

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
  verification: Verification,
  now: Date,
): Promise<boolean> {
  const numChanged = await changeRows(em, (db) =>
    db
      .with("account", (account) =>
        account.selectFrom("players").select("id").where(hasAddress(verification)).forNoKeyUpdate(),
      )
      .with("used", (used) =>
        used
          .deleteFrom("email_verifications as v")
          .using("account as a")
          .whereRef("v.player_id", "=", "a.id")
          .where(isValid(verification, now))
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
  verification: Verification,
  now: Date,
): Promise<boolean> {
  const open = await findRow(em, (db) =>
    db
      .selectFrom("email_verifications as v")
      .innerJoin("players", "players.id", "v.player_id")
      .select("players.id")
      .where(hasAddress(verification))
      .where(isValid(verification, now)),
  );
  return open !== null;
}

/** The open account in `players` that has the address. */
function hasAddress({ playerId, emailKey }: Verification) {
  const eb = expressionBuilder<Database, "players">();
  return eb.and([
    eb("players.id", "=", playerId),
    eb("players.email_key", "=", emailKey),
    eb("players.deleted_at", "is", null),
  ]);
}

/** The token in `v`, valid at `now`. */
function isValid({ tokenHash, emailKey }: Verification, now: Date) {
  const eb = expressionBuilder<Tokens, "v">();
  return eb.and([
    eb("v.token_hash", "=", tokenHash),
    eb("v.email_key", "=", emailKey),
    eb("v.expires_at", ">", now),
  ]);
}

/** Voids the account's token. */
export async function dropVerification(em: EntityManager, playerId: number): Promise<void> {
  await changeRows(em, (db) =>
    db.deleteFrom("email_verifications").where("player_id", "=", playerId),
  );
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
  await dropVerification(em, playerId);
  await changeRows(em, (db) => {
    const own = db.deleteFrom("subscribers").where("email_key", "=", emailKey);
    return isProven ? own : own.where("verified_at", "is", null);
  });
}
