import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { preparedRowsOf } from "../prepared.ts";
import { isSameRole } from "./players.ts";
import { rowsOf } from "./rows.ts";
import { levelsAt, type WalletView } from "./wallets.ts";

export interface AwardTerms {
  awardId: string;
  game: string;
  name: string;
  emberValue: number;
  repeatable: boolean;
  dailyLimit: number | null;
  clientClaimable: boolean;
  isActive: boolean;
}

export interface Grant {
  awardId: string;
  game: string;
  emberValue: number;
  repeatable: boolean;
  grantedAtMs: number;
}

const grantColumns = sql.raw(
  `award_id as "awardId", game, ember_value as "emberValue", repeatable, (extract(epoch from granted_at) * 1000)::float8 as "grantedAtMs"`,
);

/** The award of this id and game; null when unknown or switched off. */
export async function findAward(
  em: EntityManager,
  awardId: string,
  game: string,
): Promise<AwardTerms | null> {
  const rows = await rowsOf<AwardTerms>(
    em,
    sql`select award_id as "awardId", game, name, ember_value as "emberValue", repeatable,
        daily_limit as "dailyLimit", client_claimable as "clientClaimable", is_active as "isActive"
      from award_definitions where award_id = ${awardId} and game = ${game} and is_active`,
  );
  return rows[0] ?? null;
}

/** The first grant of an award to a player; null when there is none. */
export async function findFirstGrant(
  em: EntityManager,
  which: { playerId: number; awardId: string; game: string },
): Promise<Grant | null> {
  const rows = await rowsOf<Grant>(
    em,
    sql`select ${grantColumns} from award_grants
      where player_id = ${which.playerId} and award_id = ${which.awardId} and game = ${which.game}
      order by granted_at, entry_id limit 1`,
  );
  return rows[0] ?? null;
}

/** The grant of a request that came before under the same name; null when there is none. */
export async function findGrantNamed(em: EntityManager, ref: string): Promise<Grant | null> {
  const rows = await rowsOf<Grant>(
    em,
    sql`select ${grantColumns} from award_grants where ref = ${ref}`,
  );
  return rows[0] ?? null;
}

/** How often a player got an award from `since` on, before `until`. */
export async function countGrants(
  em: EntityManager,
  which: { playerId: number; awardId: string; game: string; since: Date; until: Date },
): Promise<number> {
  const rows = await rowsOf<{ count: number }>(
    em,
    sql`select count(*)::int as count from award_grants
      where player_id = ${which.playerId} and award_id = ${which.awardId} and game = ${which.game}
        and granted_at >= ${which.since} and granted_at < ${which.until}`,
  );
  return rows[0]?.count ?? 0;
}

/** What a player asks for, and the UTC day it is. */
export interface AwardClaim {
  playerId: number;
  awardId: string;
  game: string;
  isClaim: boolean;
  /** True: given to a guest only. */
  isGuest?: boolean;
  /** Names a request that may come again; null = none. */
  ref: string | null;
  at: Date;
  since: Date;
  until: Date;
}

/**
 * The whole of an award in one statement: wallet, entry and grant. Null, with nothing changed, when it
 * may not be given, or the wallet was moved while this looked: then somebody has to look under its lock.
 */
export async function grantAtOnce(
  em: EntityManager,
  { playerId, awardId, game, isClaim, isGuest = false, ref, at, since, until }: AwardClaim,
  limit: number,
): Promise<{ grant: Grant; embers: WalletView["embers"] } | null> {
  const own = sql`select 1 from award_grants g
    where g.player_id = ${playerId} and g.award_id = d.award_id and g.game = d.game`;
  // Every grant moves the wallet: with as many entries as were seen, nothing was granted since.
  const rows = await preparedRowsOf<Grant & { embers: WalletView["embers"] }>(
    em,
    sql`with seen as materialized (
        select w.player_id, w.entries, d.award_id, d.game, d.name, d.ember_value, d.repeatable
        from wallets w, award_definitions d
        where w.player_id = ${playerId} and w.currency = 'embers'
          and d.award_id = ${awardId} and d.game = ${game} and d.is_active
          and (d.client_claimable or not ${isClaim}::boolean)
          and ${isSameRole({ playerId, isGuest })}
          and (d.repeatable or not exists (${own}))
          and not exists (select 1 from award_grants g where g.ref = ${ref}::text)
          and (not d.repeatable or d.daily_limit is null or d.daily_limit > (select count(*)
            from (${own} and g.granted_at >= ${since} and g.granted_at < ${until}) as today))
      ), moved as (
        update wallets w set balance = w.balance + s.ember_value, total = w.total + s.ember_value,
          entries = w.entries + 1
        from seen s
        where w.player_id = s.player_id and w.currency = 'embers' and w.entries = s.entries
          and w.balance + s.ember_value <= ${limit}::bigint and w.total + s.ember_value <= ${limit}::bigint
        returning w.player_id, w.entries, w.balance, w.total, s.award_id, s.game, s.name, s.ember_value, s.repeatable
      ), entry as (
        insert into ledger_entries (player_id, currency, seq, amount, source, reason, ref_type, ref_id,
          balance, total, created_at)
        select player_id, 'embers', entries, ember_value, 'award', name, 'award', award_id,
          balance, total, ${at}::timestamptz from moved
        returning id
      ), granted as (
        insert into award_grants (player_id, award_id, game, ember_value, repeatable, entry_id, granted_at, ref)
        select m.player_id, m.award_id, m.game, m.ember_value, m.repeatable, e.id, ${at}::timestamptz, ${ref}::text
        from moved m, entry e
        returning ${grantColumns}
      )
      select g.*, json_build_object('balance', m.balance, 'total', m.total, ${levelsAt(sql`m.total`)}) as embers
      from granted g, moved m`,
  );
  const [row] = rows;
  if (row === undefined) return null;
  const { embers, ...grant } = row;
  return { grant, embers };
}

export async function insertGrant(
  em: EntityManager,
  grant: Grant & { playerId: number; entryId: number; ref: string | null },
): Promise<void> {
  await rowsOf(
    em,
    sql`insert into award_grants (player_id, award_id, game, ember_value, repeatable, entry_id, granted_at,
        ref)
      values (${grant.playerId}, ${grant.awardId}, ${grant.game}, ${grant.emberValue},
        ${grant.repeatable}, ${grant.entryId}, ${new Date(grant.grantedAtMs)}, ${grant.ref})`,
  );
}

/** Grants of a player, newest first; of one game when it is given. */
export async function listGrants(
  em: EntityManager,
  playerId: number,
  options: { game: string | null; limit: number },
): Promise<Grant[]> {
  return rowsOf(
    em,
    sql`select ${grantColumns} from award_grants
      where player_id = ${playerId} and (${options.game}::text is null or game = ${options.game})
      order by entry_id desc limit ${options.limit}`,
  );
}

/** Adds definitions, or changes those that are there; others stay. Grants keep what they were worth. */
export async function saveAwards(em: EntityManager, awards: readonly AwardTerms[]): Promise<void> {
  await rowsOf(
    em,
    sql`insert into award_definitions as d
        (award_id, game, name, ember_value, repeatable, daily_limit, client_claimable, is_active)
      select "awardId", game, name, "emberValue", repeatable, "dailyLimit", "clientClaimable", "isActive"
      from jsonb_to_recordset(${JSON.stringify(awards)}::jsonb) as x("awardId" text, game text, name text,
        "emberValue" int, repeatable boolean, "dailyLimit" int, "clientClaimable" boolean, "isActive" boolean)
      on conflict (award_id, game) do update set name = excluded.name, ember_value = excluded.ember_value,
        repeatable = excluded.repeatable, daily_limit = excluded.daily_limit,
        client_claimable = excluded.client_claimable, is_active = excluded.is_active`,
  );
}
