import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { rowsOf } from "./rows.ts";

/** Of the present password, or of none, and of the address the link went to: a change of either voids it. */
const mark = sql`encode(sha256(convert_to(
  coalesce(p.password_hash, '') || ' ' || coalesce(p.email_key, ''), 'UTF8')), 'hex')`;

/** Makes this the only reset token of the account (GW-10). */
export async function saveReset(
  em: EntityManager,
  { playerId, tokenHash, expiresAt }: { playerId: number; tokenHash: string; expiresAt: Date },
): Promise<void> {
  await rowsOf(
    em,
    sql`insert into password_resets (player_id, token_hash, password_mark, expires_at)
      select p.id, ${tokenHash}, ${mark}, ${expiresAt}::timestamptz
      from players p where p.id = ${playerId}
      on conflict (player_id) do update set token_hash = excluded.token_hash,
        password_mark = excluded.password_mark, expires_at = excluded.expires_at`,
  );
}

export interface ResetToken {
  playerId: number;
  tokenHash: string;
}

const openReset = ({ playerId, tokenHash }: ResetToken, now: Date) => sql`
  r.player_id = ${playerId} and r.token_hash = ${tokenHash} and r.expires_at > ${now}
    and p.id = r.player_id and not p.is_guest and p.deleted_at is null
    and r.password_mark = ${mark}`;

/** Whether `useReset` would succeed now. */
export async function isResetOpen(
  em: EntityManager,
  token: ResetToken,
  now: Date,
): Promise<boolean> {
  const rows = await rowsOf(
    em,
    sql`select 1 from password_resets r, players p where ${openReset(token, now)}`,
  );
  return rows.length > 0;
}

/**
 * Uses the token up and sets the password; of any number at once one succeeds. The account is locked
 * first, as by whoever changes it.
 */
export async function useReset(
  em: EntityManager,
  token: ResetToken,
  { now, passwordHash }: { now: Date; passwordHash: string },
): Promise<boolean> {
  const rows = await rowsOf(
    em,
    sql`with account as (
        select id, is_guest, deleted_at, password_hash, email_key from players
        where id = ${token.playerId} for no key update
      ), used as (
        delete from password_resets r using account p where ${openReset(token, now)}
        returning r.player_id
      )
      update players p set password_hash = ${passwordHash}, password_by = null
      from used where p.id = used.player_id returning p.id`,
  );
  return rows.length > 0;
}
