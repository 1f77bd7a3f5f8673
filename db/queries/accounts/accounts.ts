import { LockMode, type EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { PlayerSchema, type Player } from "../../entities/player.ts";
import { inShare } from "../../shared-entity-manager.ts";
import { changeRows, findRow, rowsOf } from "../rows.ts";

/**
 * Loads an open registered account and locks it until the transaction of `em` ends; null if there
 * is none.
 */
export function lockAccount(em: EntityManager, id: number): Promise<Player | null> {
  return em.findOne(
    PlayerSchema,
    { id, isGuest: false, deletedAt: null },
    { lockMode: LockMode.PESSIMISTIC_WRITE },
  );
}

/**
 * Sets the password in the session `by`, but only if the stored hash still equals `before` (null:
 * no password). Returns false otherwise.
 */
export async function replacePassword(
  em: EntityManager,
  playerId: number,
  { before, after, by }: { before: string | null; after: string; by: string },
): Promise<boolean> {
  const numChanged = await changeRows(em, (db) =>
    db
      .updateTable("players")
      .set({ password_hash: after, password_by: by })
      .where("id", "=", playerId)
      .where("deleted_at", "is", null)
      .where("is_guest", "=", false)
      .where("password_hash", "is not distinct from", before),
  );
  return numChanged > 0;
}

/** The address of a closed account, and whether the account had verified it. */
export interface ClosedAccount {
  emailKey: string | null;
  isProven: boolean;
}

/**
 * Closes an account. Its name and address stay reserved (USR-09). Undefined if no account is open.
 */
export async function closeAccount(
  em: EntityManager,
  playerId: number,
  now: Date,
): Promise<ClosedAccount | undefined> {
  const account = await findRow(em, (db) =>
    db
      .with("open", (open) =>
        open
          .selectFrom("players")
          .select(["id", sql<boolean>`email_verified_at is not null`.as("is_proven")])
          .where("id", "=", playerId)
          .where("deleted_at", "is", null)
          .where("is_guest", "=", false)
          .forUpdate(),
      )
      .updateTable("players as p")
      .from("open")
      .set({ deleted_at: now, channels: [], email_verified_at: null, phone_verified_at: null })
      .whereRef("p.id", "=", "open.id")
      .returning(["p.email_key as emailKey", "open.is_proven as isProven"]),
  );
  return account ?? undefined;
}

/** Voids unused sign-in codes and password-reset links (S4, S7). */
export async function dropSentCredentials(em: EntityManager, playerId: number): Promise<void> {
  await changeRows(em, (db) => db.deleteFrom("password_resets").where("player_id", "=", playerId));
  await changeRows(em, (db) =>
    db
      .updateTable("sign_in_codes")
      .set({ expires_at: new Date(0) })
      .where("player_id", "=", playerId),
  );
}

/** Reopens a closed account; false if it is not closed or has been purged. */
export async function reopenAccount(em: EntityManager, playerId: number): Promise<boolean> {
  const numChanged = await changeRows(em, (db) =>
    db
      .updateTable("players")
      .set({ deleted_at: null, channels: ["email:account"] })
      .where("id", "=", playerId)
      .where("deleted_at", "is not", null)
      .where("purged_at", "is", null),
  );
  return numChanged > 0;
}

/**
 * Clears the personal data of up to `limit` accounts closed before `before` (USR-09) and returns
 * their ids. The new name key contains a character no username may have, so it cannot collide.
 */
export async function purgeAccounts(
  em: EntityManager,
  { before, now, limit }: { before: Date; now: Date; limit: number },
): Promise<number[]> {
  // Raw SQL: one statement over all tables, so that no account is cleared by half.
  const rows = await rowsOf(
    em,
    sql<{ id: number }>`
      with due as (
        select id from players where deleted_at < ${before} and purged_at is null
        order by deleted_at limit ${limit} for update skip locked
      ), families as (delete from token_families where player_id in (select id from due)),
      replaced as (delete from replaced_addresses where player_id in (select id from due)),
      verifications as (delete from email_verifications where player_id in (select id from due)),
      codes as (delete from phone_codes where player_id in (select id from due)),
      sign_ins as (delete from sign_in_codes where player_id in (select id from due)),
      resets as (delete from password_resets where player_id in (select id from due)),
      collisions as (
        delete from address_collisions
        where player_id in (select id from due) or kept_player_id in (select id from due)
      ),
      revocations as (delete from revocations where player_id in (select id from due)),
      connections as (delete from oauth_connections where player_id in (select id from due)),
      keys as (
        update api_keys set revoked_at = ${now}::timestamptz
        where owner_id in (select id from due) and revoked_at is null
      )
      update players p set purged_at = ${now}::timestamptz, name = 'deleted_' || p.id,
        name_key = 'deleted:' || p.id, name_skeleton = null, username = 'deleted_' || p.id,
        display_name = 'deleted_' || p.id, email = null, email_key = null, phone = null,
        phone_verified_at = null, password_hash = null, address_ip = null, address_agent = null,
        address_device = null, channels = '{}', timezone = 'UTC',
        avatar_source = null, avatar_icon = null, avatar_color = null, avatar_bg = null,
        avatar_border = null, avatar_upload_id = null, avatar_v = avatar_v + 1
      from due where p.id = due.id returning p.id`,
  );
  return rows.map(({ id }) => id);
}

/** Finds an account by id, address or name for an operator, closed accounts included. */
export async function findForOperator(
  em: EntityManager,
  key: { id: number } | { emailKey: string } | { nameKey: string },
): Promise<Player | null> {
  return inShare(em, () => em.findOne(PlayerSchema, key));
}

/** The same for any of these keys; closed accounts included. */
export async function searchForOperator(
  em: EntityManager,
  keys: readonly ({ id: number } | { emailKey: string } | { nameKey: string })[],
  limit: number,
): Promise<Player[]> {
  if (keys.length === 0) return [];
  return inShare(em, () =>
    em.find(PlayerSchema, { $or: [...keys] }, { orderBy: { id: 1 }, limit }),
  );
}

/** Voids every reclaim token of a guest (TOK-12). */
export async function voidReclaimTokens(em: EntityManager, playerId: number): Promise<void> {
  await changeRows(em, (db) =>
    db
      .updateTable("players")
      .set((eb) => ({
        reclaim_void_below: eb("reclaim_generation", "+", 1),
        reclaim_generation: eb("reclaim_generation", "+", 1),
      }))
      .where("id", "=", playerId)
      .where("is_guest", "=", true),
  );
}
