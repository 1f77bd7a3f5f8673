import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { changeRows, findRow } from "../rows.ts";

/**
 * Hash over the current password (or none) and the address the link went to: a change of either voids the
 * link.
 */
const mark = sql<string>`encode(sha256(convert_to(
  coalesce(p.password_hash, '') || ' ' || coalesce(p.email_key, ''), 'UTF8')), 'hex')`;

/** Makes this the account's only reset token (GW-10). */
export async function saveReset(
  em: EntityManager,
  { playerId, tokenHash, expiresAt }: { playerId: number; tokenHash: string; expiresAt: Date },
): Promise<void> {
  await changeRows(em, (db) =>
    db
      .insertInto("password_resets")
      .columns(["player_id", "token_hash", "password_mark", "expires_at"])
      .expression(
        db
          .selectFrom("players as p")
          .select((eb) => [
            "p.id",
            eb.val(tokenHash).as("token_hash"),
            mark.as("password_mark"),
            sql<Date>`${expiresAt}::timestamptz`.as("expires_at"),
          ])
          .where("p.id", "=", playerId),
      )
      .onConflict((conflict) =>
        conflict.column("player_id").doUpdateSet((eb) => ({
          token_hash: eb.ref("excluded.token_hash"),
          password_mark: eb.ref("excluded.password_mark"),
          expires_at: eb.ref("excluded.expires_at"),
        })),
      ),
  );
}

export interface ResetToken {
  playerId: number;
  tokenHash: string;
}

/** Condition that reset `r` of account `p` is valid. */
const isOpen = ({ playerId, tokenHash }: ResetToken, now: Date) => sql<boolean>`
  r.player_id = ${playerId} and r.token_hash = ${tokenHash} and r.expires_at > ${now}
    and p.id = r.player_id and not p.is_guest and p.deleted_at is null
    and r.password_mark = ${mark}`;

/** Whether `useReset` would succeed now. */
export async function isResetOpen(
  em: EntityManager,
  token: ResetToken,
  now: Date,
): Promise<boolean> {
  const open = await findRow(em, (db) =>
    db
      .selectFrom("password_resets as r")
      .innerJoin("players as p", "p.id", "r.player_id")
      .select("p.id")
      .where(isOpen(token, now)),
  );
  return open !== null;
}

/**
 * Consumes the token and sets the password; of several concurrent callers one succeeds. Locks the account
 * first, like every writer of an account.
 */
export async function useReset(
  em: EntityManager,
  token: ResetToken,
  { now, passwordHash }: { now: Date; passwordHash: string },
): Promise<boolean> {
  const numChanged = await changeRows(em, (db) =>
    db
      .with("account", (of) =>
        of
          .selectFrom("players")
          .select(["id", "is_guest", "deleted_at", "password_hash", "email_key"])
          .where("id", "=", token.playerId)
          .forNoKeyUpdate(),
      )
      .with("used", (of) =>
        of
          .deleteFrom("password_resets as r")
          .using("account as p")
          .where(isOpen(token, now))
          .returning("r.player_id"),
      )
      .updateTable("players as p")
      .from("used")
      .set({ password_hash: passwordHash, password_by: null })
      .whereRef("p.id", "=", "used.player_id"),
  );
  return numChanged > 0;
}
