import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import type { ClosedAccount } from "./accounts.ts";
import { rowsOf } from "./rows.ts";

export interface Verification {
  playerId: number;
  tokenHash: string;
  emailKey: string;
}

/** Makes this the only token of the account (S4). */
export async function saveVerification(
  em: EntityManager,
  { playerId, tokenHash, emailKey, expiresAt }: Verification & { expiresAt: Date },
): Promise<void> {
  await rowsOf(
    em,
    sql`insert into email_verifications (player_id, token_hash, email_key, expires_at)
      values (${playerId}, ${tokenHash}, ${emailKey}, ${expiresAt})
      on conflict (player_id) do update set token_hash = excluded.token_hash,
        email_key = excluded.email_key, expires_at = excluded.expires_at`,
  );
}

/**
 * Uses a token up and marks the address as verified, in one statement; false when it is not good. The
 * account is locked first, as by whoever changes it.
 */
export async function useVerification(
  em: EntityManager,
  { playerId, tokenHash, emailKey }: Verification,
  now: Date,
): Promise<boolean> {
  const rows = await rowsOf(
    em,
    sql`with account as (
        select id from players
        where id = ${playerId} and email_key = ${emailKey} and deleted_at is null for no key update
      ), used as (
        delete from email_verifications v using account a
        where v.player_id = a.id and v.token_hash = ${tokenHash} and v.email_key = ${emailKey}
          and v.expires_at > ${now} returning v.player_id
      )
      update players p set email_verified_at = coalesce(p.email_verified_at, ${now}::timestamptz),
        address_ip = null, address_agent = null, address_device = null
      from used where p.id = used.player_id returning p.id`,
  );
  return rows.length > 0;
}

/** Whether `useVerification` would succeed. */
export async function isVerificationOpen(
  em: EntityManager,
  { playerId, tokenHash, emailKey }: Verification,
  now: Date,
): Promise<boolean> {
  const rows = await rowsOf(
    em,
    sql`select 1 from email_verifications v join players p on p.id = v.player_id
      where v.player_id = ${playerId} and v.token_hash = ${tokenHash}
        and v.email_key = ${emailKey} and v.expires_at > ${now}
        and p.email_key = v.email_key and p.deleted_at is null`,
  );
  return rows.length > 0;
}

/**
 * Removes what a closed account leaves behind: its open verification and the subscription of its address. One
 * that the owner of the address has confirmed goes only when the account had proven to be theirs.
 */
export async function forgetAddress(
  em: EntityManager,
  playerId: number,
  { emailKey, isProven }: ClosedAccount,
): Promise<void> {
  await rowsOf(em, sql`delete from email_verifications where player_id = ${playerId}`);
  await rowsOf(
    em,
    sql`delete from subscribers
      where email_key = ${emailKey} and (verified_at is null or ${isProven}::boolean)`,
  );
}
