import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { PlayerSchema, type Player } from "../entities/player.ts";
import { rowsOf } from "./rows.ts";

/** What a login may name an account by: exactly one of the two normal forms. */
export type LoginKey = { emailKey: string } | { nameKey: string };

/** The open registered account of a login name, or null. */
export function findAccount(em: EntityManager, key: LoginKey): Promise<Player | null> {
  return em.findOne(PlayerSchema, { ...key, isGuest: false, deletedAt: null });
}

/** A player whose account is not closed, or null. */
export function findOpenPlayer(em: EntityManager, id: number): Promise<Player | null> {
  return em.findOne(PlayerSchema, { id, deletedAt: null });
}

export async function isEmailKeyTaken(em: EntityManager, emailKey: string): Promise<boolean> {
  return (await em.count(PlayerSchema, { emailKey })) > 0;
}

export async function isNameKeyTaken(em: EntityManager, nameKey: string): Promise<boolean> {
  return (await em.count(PlayerSchema, { nameKey })) > 0;
}

/** Gives a guest the next reclaim generation; false when the token may not be used (TOK-12). */
export async function advanceReclaim(
  em: EntityManager,
  { playerId, generation }: { playerId: number; generation: number },
): Promise<boolean> {
  const rows = await rowsOf(
    em,
    sql`update players set reclaim_generation = reclaim_generation + 1
      where id = ${playerId} and is_guest and deleted_at is null
        and reclaim_void_below <= ${generation} and reclaim_generation >= ${generation}
      returning id`,
  );
  return rows.length > 0;
}

export interface Registration {
  email: string;
  emailKey: string;
  /** null: the name of the player. */
  displayName: string | null;
  passwordHash: string;
  locale: string;
  now: Date;
}

/** Turns a guest into an account and voids its reclaim tokens; false when it is no guest (any more). */
export async function upgradeGuest(
  em: EntityManager,
  playerId: number,
  account: Registration,
): Promise<boolean> {
  const rows = await rowsOf(
    em,
    sql`update players set is_guest = false, username = name, email = ${account.email},
        email_key = ${account.emailKey}, display_name = coalesce(${account.displayName}, name),
        password_hash = ${account.passwordHash}, locale = ${account.locale},
        channels = ${["email:account"]}::text[], last_login_at = ${account.now},
        reclaim_void_below = reclaim_generation + 1
      where id = ${playerId} and is_guest and deleted_at is null
      returning id`,
  );
  return rows.length > 0;
}

export async function recordLogin(
  em: EntityManager,
  playerId: number,
  { now, passwordHash }: { now: Date; passwordHash: string | null },
): Promise<void> {
  await rowsOf(
    em,
    sql`update players set last_login_at = ${now},
      password_hash = coalesce(${passwordHash}, password_hash) where id = ${playerId}`,
  );
}
