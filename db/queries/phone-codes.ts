import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { rowsOf } from "./rows.ts";
import { deleteWhere } from "./slices.ts";

/**
 * When the unexpired codes of an account end, the earliest first; none ends after `latest` unless the
 * clock was set back, which must not make anyone wait longer (S40). Call it with the account locked.
 */
export async function listCodeEnds(
  em: EntityManager,
  playerId: number,
  { now, latest }: { now: Date; latest: Date },
): Promise<number[]> {
  const rows = await rowsOf(
    em,
    sql<{ ms: number }>`
      select (extract(epoch from expires_at) * 1000)::float8 as ms from phone_codes
      where player_id = ${playerId} and expires_at > ${now} and expires_at <= ${latest}
      order by expires_at`,
  );
  return rows.map(({ ms }) => ms);
}

/** Makes this the only good code of the account; the others still count as sent. */
export async function saveCode(
  em: EntityManager,
  code: { playerId: number; phone: string; codeHash: string; expiresAt: Date },
): Promise<void> {
  await spendCodes(em, code.playerId);
  await rowsOf(
    em,
    sql`insert into phone_codes (player_id, phone, code_hash, expires_at)
      values (${code.playerId}, ${code.phone}, ${code.codeHash}, ${code.expiresAt})`,
  );
}

export async function spendCodes(em: EntityManager, playerId: number): Promise<void> {
  await rowsOf(
    em,
    sql`update phone_codes set is_spent = true where player_id = ${playerId} and not is_spent`,
  );
}

/**
 * One try, in one statement, so that many at once are no more tries than one after another: the
 * row is locked while it is counted. The number when the code was right, else null.
 */
export async function tryCode(
  em: EntityManager,
  { playerId, hashes, now, maxTries }: CodeTry,
): Promise<string | null> {
  const rows = await rowsOf(
    em,
    sql<{ phone: string; isRight: boolean }>`
      update phone_codes set tries = tries + 1,
        is_spent = code_hash = any(${hashes}::text[]) or tries + 1 >= ${maxTries}
      where player_id = ${playerId} and not is_spent and expires_at > ${now}
      returning phone, code_hash = any(${hashes}::text[]) as "isRight"`,
  );
  const [row] = rows;
  return row?.isRight ? row.phone : null;
}

interface CodeTry {
  playerId: number;
  hashes: readonly string[];
  now: Date;
  maxTries: number;
}

/** Marks the number as the account's, verified in the session `by`; false when another account has verified it (USR-08). */
export async function verifyPhone(
  em: EntityManager,
  { playerId, phone, now, by }: { playerId: number; phone: string; now: Date; by: string },
): Promise<boolean> {
  const rows = await rowsOf(
    em,
    sql`update players set phone = ${phone}, phone_verified_at = ${now}, phone_by = ${by}
      where id = ${playerId} and deleted_at is null and not exists (
        select 1 from players other where other.phone = ${phone}
          and other.phone_verified_at is not null and other.id <> ${playerId})
      returning id`,
  );
  return rows.length > 0;
}

export async function removePhone(em: EntityManager, playerId: number): Promise<boolean> {
  const rows = await rowsOf(
    em,
    sql`update players set phone = null, phone_verified_at = null
      where id = ${playerId} and deleted_at is null and not is_guest returning id`,
  );
  return rows.length > 0;
}

/** Voids the sign-in code that went to the number the account had (GW-04). */
export async function dropTextedCode(em: EntityManager, playerId: number): Promise<void> {
  await rowsOf(
    em,
    sql`update sign_in_codes set expires_at = 'epoch'::timestamptz
      where player_id = ${playerId} and channel = 'sms'`,
  );
}

export async function purgeCodes(em: EntityManager, now: Date): Promise<void> {
  await deleteWhere(em, "phone_codes", sql`expires_at < ${now}`);
}
