import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { changeRows, findRow, rowsOf } from "../rows.ts";

export interface NewCode {
  playerId: number;
  codeHash: string;
  channel: "email" | "sms";
  emailKey: string;
  now: Date;
  expiresAt: Date;
}

/**
 * Makes this the account's only code (S4). False, keeping the previous code, if `max` codes have been
 * created since `windowStart`; null = unbounded.
 */
export async function saveCode(
  em: EntityManager,
  { playerId, codeHash, channel, emailKey, now, expiresAt }: NewCode,
  bound: { windowStart: Date; max: number | null },
): Promise<boolean> {
  // A clock set back must not lengthen a window (S40).
  const isNewWindow = sql<boolean>`(sign_in_codes.window_started_at <= ${bound.windowStart}::timestamptz
    or sign_in_codes.window_started_at > ${now}::timestamptz)`;
  const numSaved = await changeRows(em, (db) =>
    db
      .insertInto("sign_in_codes")
      .values({
        player_id: playerId,
        code_hash: codeHash,
        channel,
        email_key: emailKey,
        expires_at: expiresAt,
        window_started_at: now,
      })
      .onConflict((conflict) =>
        conflict
          .column("player_id")
          .doUpdateSet((eb) => ({
            code_hash: eb.ref("excluded.code_hash"),
            channel: eb.ref("excluded.channel"),
            email_key: eb.ref("excluded.email_key"),
            tries: 0,
            expires_at: eb.ref("excluded.expires_at"),
            issued: sql<number>`case when ${isNewWindow} then 1 else sign_in_codes.issued + 1 end`,
            window_started_at: sql<Date>`case when ${isNewWindow} then excluded.window_started_at
              else sign_in_codes.window_started_at end`,
          }))
          .where(
            bound.max === null
              ? sql<boolean>`true`
              : sql<boolean>`${isNewWindow} or sign_in_codes.issued < ${bound.max}::int`,
          ),
      ),
  );
  return numSaved > 0;
}

export interface CodeTry {
  /** 0 for an address without an account: it does the same work and finds no row. */
  playerId: number;
  emailKey: string;
  /** Hashes of the submitted code under the current secret and the previous one. */
  hashes: string[];
  now: Date;
  maxTries: number;
}

/**
 * Counts a try and consumes the code if it is right; null if it is wrong or there is none. Without a code
 * there is nothing to count, but a commit that reaches the disk takes longer than one that does not. A
 * logical message is therefore written instead, so that the response time does not reveal who has a code
 * (S1).
 */
export async function tryCode(
  em: EntityManager,
  { playerId, emailKey, hashes, now, maxTries }: CodeTry,
): Promise<"email" | "sms" | null> {
  const isRight = sql`code_hash = any(${hashes}::text[])`;
  // Raw SQL: a write, or a message that takes equally long.
  const rows = await rowsOf(
    em,
    sql<{ isRight: boolean; channel: "email" | "sms" | null }>`
      with tried as (update sign_in_codes set tries = tries + 1,
        expires_at = case when ${isRight} then 'epoch'::timestamptz else expires_at end
      where player_id = ${playerId} and email_key = ${emailKey} and tries < ${maxTries}::int
        and expires_at > ${now}
      returning ${isRight} as "isRight", channel)
      select "isRight", channel, null::pg_lsn from tried union all
      select false, null, pg_logical_emit_message(true, 'nobody', '') where not exists (select from tried)`,
  );
  const [row] = rows;
  return row?.isRight === true ? row.channel : null;
}

/** Whether a code would be accepted now. */
export async function isSignInCodeOpen(
  em: EntityManager,
  {
    playerId,
    codeHash,
    now,
    maxTries,
  }: Omit<CodeTry, "emailKey" | "hashes"> & { codeHash: string },
): Promise<boolean> {
  const open = await findRow(em, (db) =>
    db
      .selectFrom("sign_in_codes")
      .select("player_id")
      .where("player_id", "=", playerId)
      .where("code_hash", "=", codeHash)
      .where("tries", "<", maxTries)
      .where("expires_at", ">", now),
  );
  return open !== null;
}
