import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { anyOf, millis } from "../expressions.ts";
import { changeRows, findRow, findRows } from "../rows.ts";
import { deleteWhere } from "../batches.ts";

/**
 * Expiry times of the account's valid codes, earliest first. A code ends after `latest` only if the
 * clock was set back; it is left out, so that it lengthens nobody's wait (S40). Requires the lock
 * on the account.
 */
export async function listCodeEnds(
  em: EntityManager,
  playerId: number,
  { now, latest }: { now: Date; latest: Date },
): Promise<number[]> {
  const rows = await findRows(em, (db) =>
    db
      .selectFrom("phone_codes")
      .select(millis("expires_at").as("ms"))
      .where("player_id", "=", playerId)
      .where("expires_at", ">", now)
      .where("expires_at", "<=", latest)
      .orderBy("expires_at"),
  );
  return rows.map(({ ms }) => ms);
}

/** Makes this the account's only valid code; earlier ones still count as sent. */
export async function saveCode(
  em: EntityManager,
  code: { playerId: number; phone: string; codeHash: string; expiresAt: Date },
): Promise<void> {
  const { playerId, phone, codeHash, expiresAt } = code;
  await spendCodes(em, playerId);
  await changeRows(em, (db) =>
    db
      .insertInto("phone_codes")
      .values({ player_id: playerId, phone, code_hash: codeHash, expires_at: expiresAt }),
  );
}

export async function spendCodes(em: EntityManager, playerId: number): Promise<void> {
  await changeRows(em, (db) =>
    db
      .updateTable("phone_codes")
      .set({ is_spent: true })
      .where("player_id", "=", playerId)
      .where("is_spent", "=", sql.lit(false)),
  );
}

/**
 * Counts one try and checks the code. Returns the number if the code is right, else null. A single
 * statement locks the row while counting, so concurrent tries get no extra attempts.
 */
export async function tryCode(
  em: EntityManager,
  { playerId, hashes, now, maxTries }: CodeTry,
): Promise<string | null> {
  const isRight = sql<boolean>`code_hash = ${anyOf(hashes, "text")}`;
  const row = await findRow(em, (db) =>
    db
      .updateTable("phone_codes")
      .set((eb) => ({
        tries: eb("tries", "+", 1),
        is_spent: sql<boolean>`${isRight} or tries + 1 >= ${maxTries}`,
      }))
      .where("player_id", "=", playerId)
      .where("is_spent", "=", sql.lit(false))
      .where("expires_at", ">", now)
      .returning(["phone", isRight.as("isRight")]),
  );
  return row?.isRight === true ? row.phone : null;
}

/** Whether a code would be accepted now. */
export async function isPhoneCodeOpen(
  em: EntityManager,
  { playerId, codeHash, now }: { playerId: number; codeHash: string; now: Date },
): Promise<boolean> {
  const open = await findRow(em, (db) =>
    db
      .selectFrom("phone_codes")
      .select("id")
      .where("player_id", "=", playerId)
      .where("code_hash", "=", codeHash)
      .where("is_spent", "=", sql.lit(false))
      .where("expires_at", ">", now),
  );
  return open !== null;
}

interface CodeTry {
  playerId: number;
  hashes: readonly string[];
  now: Date;
  maxTries: number;
}

/**
 * Verifies the number for the account in the session `by`; false if another account has verified it
 * (USR-08).
 */
export async function verifyPhone(
  em: EntityManager,
  { playerId, phone, now, by }: { playerId: number; phone: string; now: Date; by: string },
): Promise<boolean> {
  const numChanged = await changeRows(em, (db) =>
    db
      .updateTable("players")
      .set({ phone, phone_verified_at: now, phone_by: by })
      .where("id", "=", playerId)
      .where("deleted_at", "is", null)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom("players as other")
              .select("other.id")
              .where("other.phone", "=", phone)
              .where("other.phone_verified_at", "is not", null)
              .where("other.id", "<>", playerId),
          ),
        ),
      ),
  );
  return numChanged > 0;
}

/** Requires the lock on the account. */
export async function removePhone(em: EntityManager, playerId: number): Promise<void> {
  await changeRows(em, (db) =>
    db
      .updateTable("players")
      .set({ phone: null, phone_verified_at: null })
      .where("id", "=", playerId)
      .where("deleted_at", "is", null)
      .where("is_guest", "=", false),
  );
}

/** Voids the sign-in code sent to the account's previous number (GW-04). */
export async function dropTextedCode(em: EntityManager, playerId: number): Promise<void> {
  await changeRows(em, (db) =>
    db
      .updateTable("sign_in_codes")
      .set({ expires_at: new Date(0) })
      .where("player_id", "=", playerId)
      .where("channel", "=", "sms"),
  );
}

export async function purgeCodes(em: EntityManager, now: Date): Promise<void> {
  await deleteWhere(em, "phone_codes", (eb) => eb("expires_at", "<", now));
}
