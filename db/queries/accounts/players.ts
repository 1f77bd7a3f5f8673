import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { PlayerSchema, type Player } from "../../entities/player.ts";
import { prepared } from "../../prepared.ts";
import { inShare } from "../../shared-entity-manager.ts";
import { changeRows, findRow, findRows, type Builder } from "../rows.ts";
import { nextSignInNumber, type NewFamily } from "../sessions/token-families.ts";

/** A login names an account by exactly one of the two normal forms. */
export type LoginKey = { emailKey: string } | { nameKey: string };

/** The account fields a password check needs. */
export interface LoginAccount {
  id: number;
  passwordHash: string | null;
}

const openAccounts = (db: Builder) =>
  db
    .selectFrom("players")
    .select(["id", "password_hash as passwordHash"])
    .where("is_guest", "=", sql.lit(false))
    .where("deleted_at", "is", null);
const findLoginByEmail = prepared((db, { emailKey }: { emailKey: string }) =>
  openAccounts(db).where("email_key", "=", emailKey),
);
const findLoginByName = prepared((db, { nameKey }: { nameKey: string }) =>
  openAccounts(db).where("name_key", "=", nameKey),
);

/**
 * The open registered account for a login name, or null. It reads only one row, so both cases take
 * equally long.
 */
export async function findLogin(em: EntityManager, key: LoginKey): Promise<LoginAccount | null> {
  const [row] = await ("emailKey" in key ? findLoginByEmail(em, key) : findLoginByName(em, key));
  return row ?? null;
}

/** The columns of a `SignedIn`. */
const signedInColumns = [
  "id",
  "name",
  "is_guest as isGuest",
  "email",
  "email_key as emailKey",
  "username",
  "display_name as displayName",
  "locale",
  "timezone",
  "channels",
  "last_login_at as lastLoginAt",
  "email_verified_at as emailVerifiedAt",
  "avatar_v as avatarV",
  "avatar_source as avatarSource",
  "avatar_icon as avatarIcon",
  "avatar_color as avatarColor",
  "avatar_bg as avatarBg",
  "reclaim_generation as reclaimGeneration",
  "created_at as createdAt",
] as const;

const findOpen = prepared((db, { id }: { id: number }) =>
  db
    .selectFrom("players")
    .select(signedInColumns)
    .select(["name_key as nameKey", "password_hash as passwordHash", "realm"])
    .where("id", "=", id)
    .where("deleted_at", "is", null),
);

/** An open account as a plain row; assigning to it does not change the database. */
export type OpenPlayer = Readonly<SignedIn & Pick<Player, "nameKey" | "passwordHash" | "realm">>;

/** A player whose account is open, or null. */
export async function findOpenPlayer(em: EntityManager, id: number): Promise<OpenPlayer | null> {
  const [row] = await findOpen(em, { id });
  return row ?? null;
}

/** Like `findOpenPlayer`, but as an entity, for a transaction that changes it. */
export function loadOpenPlayer(em: EntityManager, id: number): Promise<Player | null> {
  return em.findOne(PlayerSchema, { id, deletedAt: null });
}

export async function isEmailKeyTaken(em: EntityManager, emailKey: string): Promise<boolean> {
  return (await inShare(em, () => em.count(PlayerSchema, { emailKey }))) > 0;
}

/** Whether the name, or a confusable one, is taken. */
export async function isNameTaken(
  em: EntityManager,
  { nameKey, nameSkeleton }: { nameKey: string; nameSkeleton: string },
): Promise<boolean> {
  const either = { $or: [{ nameKey }, { nameSkeleton }] };
  return (await inShare(em, () => em.count(PlayerSchema, either))) > 0;
}

/** More than a guest uses reclaim tokens between a backup and its restore. */
const maxLostGenerations = 1_000;

/**
 * Moves a guest to the next reclaim generation; false if the token is not valid (TOK-12). Only
 * generations decide, never times, because clocks step and differ between hosts. A newer generation is
 * valid for a guest of a restored backup (BOOT-52).
 */
export async function advanceReclaim(
  em: EntityManager,
  { playerId, generation }: { playerId: number; generation: number },
): Promise<boolean> {
  const numChanged = await changeRows(em, (db) =>
    db
      .updateTable("players")
      .set({
        reclaim_generation: sql<number>`greatest(reclaim_generation, ${generation}::int) + 1`,
      })
      .where("id", "=", playerId)
      .where("is_guest", "=", true)
      .where("deleted_at", "is", null)
      .where("reclaim_void_below", "<=", generation)
      .where((eb) =>
        eb.or([
          eb("reclaim_generation", ">=", generation),
          eb.and([
            eb("reclaim_generation", ">=", generation - maxLostGenerations),
            eb.exists(eb.selectFrom("restores").select("id").where("lost_from", ">", playerId)),
          ]),
        ]),
      ),
  );
  return numChanged > 0;
}

export interface Registration {
  emailKey: string;
  /** null: use the player's name. */
  displayName: string | null;
  passwordHash: string;
  locale: string;
  now: Date;
}

/** Turns a guest into an account and voids its reclaim tokens; false if it is no longer a guest. */
export async function upgradeGuest(
  em: EntityManager,
  playerId: number,
  account: Registration,
): Promise<boolean> {
  const numChanged = await changeRows(em, (db) =>
    db
      .updateTable("players")
      .set((eb) => ({
        is_guest: false,
        username: eb.ref("name"),
        email: account.emailKey,
        email_key: account.emailKey,
        display_name: account.displayName ?? eb.ref("name"),
        password_hash: account.passwordHash,
        locale: account.locale,
        channels: ["email:account"],
        last_login_at: account.now,
        reclaim_void_below: eb("reclaim_generation", "+", 1),
        upgraded_at: account.now,
      }))
      .where("id", "=", playerId)
      .where("is_guest", "=", true)
      .where("deleted_at", "is", null),
  );
  return numChanged > 0;
}

export interface LoginRecord {
  now: Date;
  /** The hash the password was checked against; a login fails if the password has changed since. */
  checkedHash?: string | null;
  /** The same password with a new hash. */
  passwordHash?: string | null;
}

/** Matches no row if the account was closed or its password changed in between. */
const loginUpdate = (
  db: Pick<Builder, "updateTable">,
  playerId: number,
  { now, checkedHash = null, passwordHash = null }: LoginRecord,
) =>
  db
    .updateTable("players")
    .set({
      last_login_at: now,
      password_hash: sql<string | null>`coalesce(${passwordHash}::text, password_hash)`,
    })
    .where("id", "=", playerId)
    .where("deleted_at", "is", null)
    .where(sql<boolean>`(${checkedHash}::text is null or password_hash = ${checkedHash})`);

/** Records a login; false if the account was closed or its password changed in between. */
export async function recordLogin(
  em: EntityManager,
  playerId: number,
  record: LoginRecord,
): Promise<boolean> {
  return (await changeRows(em, (db) => loginUpdate(db, playerId, record))) > 0;
}

/** The account fields a login response contains. */
export type SignedIn = Pick<
  Player,
  | "id"
  | "name"
  | "isGuest"
  | "email"
  | "emailKey"
  | "username"
  | "displayName"
  | "locale"
  | "timezone"
  | "channels"
  | "lastLoginAt"
  | "emailVerifiedAt"
  | "avatarV"
  | "avatarSource"
  | "avatarIcon"
  | "avatarColor"
  | "avatarBg"
  | "reclaimGeneration"
  | "createdAt"
>;

interface Login {
  record: LoginRecord;
  family: NewFamily;
}

const loginWithFamily = prepared((db, { record, family }: Login) =>
  db
    .with("known", (of) => loginUpdate(of, family.player, record).returning(signedInColumns))
    .with("family", (of) =>
      of
        .insertInto("token_families")
        .columns([
          "id",
          "player_id",
          "is_guest",
          "realm",
          "generation",
          "created_at",
          "last_used_at",
          "ends_at",
          "user_agent",
          "method",
          "authenticated_at",
          "sign_in_number",
          "parent",
        ])
        .expression((eb) =>
          eb
            .selectFrom("known")
            .select([
              eb.val(family.id).as("id"),
              "known.id as player_id",
              sql<boolean>`${family.isGuest}::boolean`.as("is_guest"),
              eb.val(family.realm).as("realm"),
              sql<number>`${family.generation}::int`.as("generation"),
              sql<Date>`${family.createdAt}::timestamptz`.as("created_at"),
              sql<Date>`${family.lastUsedAt}::timestamptz`.as("last_used_at"),
              sql<Date>`${family.endsAt}::timestamptz`.as("ends_at"),
              eb.val(family.userAgent).as("user_agent"),
              eb.val(family.method).as("method"),
              sql<Date | null>`${family.authenticatedAt}::timestamptz`.as("authenticated_at"),
              sql<number>`${sql.raw(nextSignInNumber)}`.as("sign_in_number"),
              eb.val(family.parent).as("parent"),
            ]),
        ),
    )
    .selectFrom("known")
    .selectAll(),
);

/**
 * `recordLogin` and its new session in one statement, since a password login does nothing else.
 * Null if the account was closed or its password changed in between.
 */
export async function recordLoginWithFamily(
  em: EntityManager,
  record: LoginRecord,
  family: NewFamily,
): Promise<SignedIn | null> {
  const [row] = await loginWithFamily(em, { record, family });
  return row ?? null;
}

/** Guests upgraded to accounts since that time, newest first (S8). */
export async function listUpgradedSince(
  em: EntityManager,
  { since, limit }: { since: Date; limit: number },
): Promise<number[]> {
  const rows = await findRows(em, (db) =>
    db
      .selectFrom("players")
      .select("id")
      .where("upgraded_at", ">", since)
      .orderBy("upgraded_at", "desc")
      .limit(limit),
  );
  return rows.map(({ id }) => id);
}

/** Write condition: a guest token is invalid once the guest has become an account (S8). */
export const isSameRole = ({ playerId, isGuest }: { playerId: number; isGuest: boolean }) =>
  sql<boolean>`(not ${isGuest}::boolean or exists (
    select from players p where p.id = ${playerId} and p.is_guest and p.deleted_at is null))`;

/**
 * Whether the player is still a guest; the row is locked so that this holds until the transaction
 * of `em` ends.
 */
export async function holdGuest(em: EntityManager, playerId: number): Promise<boolean> {
  // This lock blocks only an upgrade, which changes a key of the row; other writes do not.
  const guest = await findRow(em, (db) =>
    db
      .selectFrom("players")
      .select("id")
      .where("id", "=", playerId)
      .where("is_guest", "=", true)
      .where("deleted_at", "is", null)
      .forKeyShare(),
  );
  return guest !== null;
}

/** Players who closed their account since that time, newest first (TOK-11). */
export async function listClosedSince(
  em: EntityManager,
  { since, limit }: { since: Date; limit: number },
): Promise<number[]> {
  const rows = await findRows(em, (db) =>
    db
      .selectFrom("players")
      .select("id")
      .where("deleted_at", ">", since)
      .where("purged_at", "is", null)
      .orderBy("deleted_at", "desc")
      .limit(limit),
  );
  return rows.map(({ id }) => id);
}

/**
 * Serializes requests that count the rows of a player, until the transaction ends; false if there is no such player.
 * Rows of others that reference the player do not wait, as they would for `lockAccount`: two players whose rows name
 * each other cannot block each other.
 */
export async function lockPlayer(em: EntityManager, playerId: number): Promise<boolean> {
  const player = await findRow(em, (db) =>
    db.selectFrom("players").select("id").where("id", "=", playerId).forNoKeyUpdate(),
  );
  return player !== null;
}
