import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { isSet, millis } from "../expressions.ts";
import { deleteWhere } from "../batches.ts";
import { changeRows, findRow, findRows, type Builder } from "../rows.ts";

export interface NewReplacedAddress {
  playerId: number;
  emailKey: string;
  verifiedAt: Date;
  tokenId: string;
  now: Date;
  expiresAt: Date;
}

/** Requires the lock on the account, like every function here that writes. */
export async function saveReplaced(em: EntityManager, row: NewReplacedAddress): Promise<void> {
  await changeRows(em, (db) =>
    db.insertInto("replaced_addresses").values({
      player_id: row.playerId,
      email_key: row.emailKey,
      verified_at: row.verifiedAt,
      token_id: row.tokenId,
      replaced_at: row.now,
      expires_at: row.expiresAt,
    }),
  );
}

export interface ReplacedAddressRow {
  id: number;
  emailKey: string;
  tokenId: string;
  verifiedAtMs: number;
  replacedAtMs: number;
  expiresAtMs: number;
}

const rowsIn = (db: Builder) =>
  db
    .selectFrom("replaced_addresses as r")
    .select([
      "r.id",
      "r.email_key as emailKey",
      "r.token_id as tokenId",
      millis("r.verified_at").as("verifiedAtMs"),
      millis("r.replaced_at").as("replacedAtMs"),
      millis("r.expires_at").as("expiresAtMs"),
    ]);

/** The replaced address that alone receives the account's codes and links, until a newer one is verified. */
export function findCurrentReplaced(
  em: EntityManager,
  playerId: number,
): Promise<ReplacedAddressRow | null> {
  return findRow(em, (db) =>
    rowsIn(db).where("r.player_id", "=", playerId).where("r.superseded_at", "is", null),
  );
}

/** The address whose link has this token; null when the link was used or has expired, or the account is closed. */
export function findRestorable(
  em: EntityManager,
  { playerId, tokenId, now }: { playerId: number; tokenId: string; now: Date },
): Promise<(ReplacedAddressRow & { realm: string }) | null> {
  return findRow(em, (db) =>
    rowsIn(db)
      .innerJoin("players as p", "p.id", "r.player_id")
      .select("p.realm")
      .where("r.player_id", "=", playerId)
      .where("r.token_id", "=", tokenId)
      .where("r.expires_at", ">", now)
      .where("p.deleted_at", "is", null),
  );
}

/** Gives the links of the current replaced address, if there is one, a new end. */
export async function extendReplaced(
  em: EntityManager,
  playerId: number,
  expiresAt: Date,
): Promise<void> {
  await changeRows(em, (db) =>
    db
      .updateTable("replaced_addresses")
      .set({ expires_at: expiresAt })
      .where("player_id", "=", playerId)
      .where("superseded_at", "is", null),
  );
}

/**
 * Expiry times of the account's links, earliest first. A link ends after `latest` only if the clock was set back; it
 * is left out, so that it lengthens nobody's wait (S40).
 */
export async function listReplacedEnds(
  em: EntityManager,
  playerId: number,
  { now, latest }: { now: Date; latest: Date },
): Promise<number[]> {
  const rows = await findRows(em, (db) =>
    db
      .selectFrom("replaced_addresses")
      .select(millis("expires_at").as("ms"))
      .where("player_id", "=", playerId)
      .where("expires_at", ">", now)
      .where("expires_at", "<=", latest)
      .orderBy("expires_at"),
  );
  return rows.map(({ ms }) => ms);
}

/**
 * Whether an address is reserved for an account other than `playerId`. A writer of an address asks after its write:
 * until then the account that replaces the address may still hold it.
 */
export async function isAddressReserved(
  em: EntityManager,
  emailKey: string,
  { playerId = 0, now }: { playerId?: number; now: Date },
): Promise<boolean> {
  const row = await findRow(em, (db) =>
    db
      .selectFrom("replaced_addresses")
      .select("id")
      .where("email_key", "=", emailKey)
      .where("player_id", "<>", playerId)
      .where((eb) => eb.or([eb("superseded_at", "is", null), eb("expires_at", ">", now)]))
      .limit(1),
  );
  return row !== null;
}

/** From now on the account's own address receives its codes and links; false if it did already. */
export async function supersedeReplaced(
  em: EntityManager,
  playerId: number,
  now: Date,
): Promise<boolean> {
  const numChanged = await changeRows(em, (db) =>
    db
      .updateTable("replaced_addresses")
      .set({ superseded_at: now })
      .where("player_id", "=", playerId)
      .where("superseded_at", "is", null),
  );
  return numChanged > 0;
}

/** Forgets this change of an account's address and all later ones. */
export async function deleteReplacedSince(
  em: EntityManager,
  playerId: number,
  firstId: number,
): Promise<void> {
  await changeRows(em, (db) =>
    db
      .deleteFrom("replaced_addresses")
      .where("player_id", "=", playerId)
      .where("id", ">=", firstId),
  );
}

export async function purgeReplaced(em: EntityManager, now: Date): Promise<void> {
  await deleteWhere(em, "replaced_addresses", (eb) =>
    eb.and([eb("superseded_at", "is not", null), eb("expires_at", "<", now)]),
  );
}

/** Where codes, links and notices of an account go: its address, or the replaced one that receives them still. */
export interface MailTarget {
  to: string;
  isVerified: boolean;
  /** A verified number receives codes as well. */
  hasPhone: boolean;
  locale: string;
  realm: string;
}

/** Null if the account is closed or has no address. */
export function findMailTarget(em: EntityManager, playerId: number): Promise<MailTarget | null> {
  return findRow(em, (db) =>
    db
      .selectFrom("players as p")
      .leftJoin("replaced_addresses as r", (join) =>
        join.onRef("r.player_id", "=", "p.id").on("r.superseded_at", "is", null),
      )
      .select([
        sql<string>`coalesce(r.email_key, p.email_key)`.as("to"),
        sql<boolean>`r.id is not null or p.email_verified_at is not null`.as("isVerified"),
        isSet("p.phone_verified_at").as("hasPhone"),
        "p.locale",
        "p.realm",
      ])
      .where("p.id", "=", playerId)
      .where("p.deleted_at", "is", null)
      .where("p.email_key", "is not", null),
  );
}

/**
 * Id of the open registered account that receives codes and links at this address, or 0. Every address takes equally
 * many statements. The row stays locked until the transaction ends. Lock order: the account before the codes and
 * links sent to it.
 */
export async function lockAccountId(em: EntityManager, emailKey: string): Promise<number> {
  const id = await findReceiver(em, emailKey);
  await findRow(em, (db) =>
    db
      .selectFrom("players")
      .select("id")
      .where("id", "=", id)
      .where("is_guest", "=", false)
      .where("deleted_at", "is", null)
      .forNoKeyUpdate(),
  );
  // A change that this waited for may have moved the address.
  return (await findReceiver(em, emailKey)) === id ? id : 0;
}

/** A replaced address receives them alone until a newer one is verified (USR-13). */
async function findReceiver(em: EntityManager, emailKey: string): Promise<number> {
  const row = await findRow(em, (db) =>
    db
      .with("receivers", (of) =>
        of
          .selectFrom("players as p")
          .select("p.id")
          .where("p.email_key", "=", emailKey)
          .where("p.is_guest", "=", false)
          .where("p.deleted_at", "is", null)
          .where(({ not, exists, selectFrom }) =>
            not(
              exists(
                selectFrom("replaced_addresses as r")
                  .select("r.id")
                  .whereRef("r.player_id", "=", "p.id")
                  .where("r.superseded_at", "is", null),
              ),
            ),
          )
          .unionAll(
            of
              .selectFrom("replaced_addresses as r")
              .innerJoin("players as p", "p.id", "r.player_id")
              .select("p.id")
              .where("r.email_key", "=", emailKey)
              .where("r.superseded_at", "is", null)
              .where("p.deleted_at", "is", null),
          ),
      )
      .selectFrom("receivers")
      .select(sql<number>`coalesce(max(id), 0)`.as("id")),
  );
  return row?.id ?? 0;
}
