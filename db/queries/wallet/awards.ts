import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { preparedText } from "../../prepared.ts";
import { isSameRole } from "../accounts/players.ts";
import { columnsText, millis } from "../expressions.ts";
import { changeRows, findRow, findRows } from "../rows.ts";
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

const grantColumns = [
  "award_id as awardId",
  "game",
  "ember_value as emberValue",
  "repeatable",
  millis("granted_at").as("grantedAtMs"),
] as const;

/** The award with this id in this game; null if unknown or switched off. */
export function findAward(
  em: EntityManager,
  awardId: string,
  game: string,
): Promise<AwardTerms | null> {
  return findRow(em, (db) =>
    db
      .selectFrom("award_definitions")
      .select([
        "award_id as awardId",
        "game",
        "name",
        "ember_value as emberValue",
        "repeatable",
        "daily_limit as dailyLimit",
        "client_claimable as clientClaimable",
        "is_active as isActive",
      ])
      .where("award_id", "=", awardId)
      .where("game", "=", game)
      .where("is_active", "=", true),
  );
}

/** The first grant of an award to a player, or null. */
export function findFirstGrant(
  em: EntityManager,
  which: { playerId: number; awardId: string; game: string },
): Promise<Grant | null> {
  return findRow(em, (db) =>
    db
      .selectFrom("award_grants")
      .select(grantColumns)
      .where("player_id", "=", which.playerId)
      .where("award_id", "=", which.awardId)
      .where("game", "=", which.game)
      .orderBy("granted_at")
      .orderBy("entry_id")
      .limit(1),
  );
}

/** The grant already made under this reference, or null. */
export function findGrantNamed(em: EntityManager, ref: string): Promise<Grant | null> {
  return findRow(em, (db) =>
    db.selectFrom("award_grants").select(grantColumns).where("ref", "=", ref),
  );
}

/** Number of grants of an award to a player in [`since`, `until`). */
export async function countGrants(
  em: EntityManager,
  which: { playerId: number; awardId: string; game: string; since: Date; until: Date },
): Promise<number> {
  const row = await findRow(em, (db) =>
    db
      .selectFrom("award_grants")
      .select((eb) => eb.fn.countAll<number>().as("count"))
      .where("player_id", "=", which.playerId)
      .where("award_id", "=", which.awardId)
      .where("game", "=", which.game)
      .where("granted_at", ">=", which.since)
      .where("granted_at", "<", which.until),
  );
  return row?.count ?? 0;
}

/** A player's claim of an award, and the current UTC day. */
export interface AwardClaim {
  playerId: number;
  awardId: string;
  game: string;
  isClaim: boolean;
  /** True: grant it only to a guest. */
  isGuest?: boolean;
  /** Idempotency reference; null = none. */
  ref: string | null;
  at: Date;
  since: Date;
  until: Date;
}

// Raw SQL: a chain of writes in one statement, with sums under its conditions.
const grantNow = preparedText(
  ({ playerId, awardId, game, isClaim, isGuest, ref, at, since, until, limit }: GrantNow) => {
    const own = sql`select 1 from award_grants g
      where g.player_id = ${playerId} and g.award_id = d.award_id and g.game = d.game`;
    // Every grant adds a wallet entry, so an unchanged number of entries means that nothing was granted
    // since.
    return sql<Grant & { embers: WalletView["embers"] }>`with seen as materialized (
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
        returning ${columnsText(grantColumns)}
      )
      select g.*, json_build_object('balance', m.balance, 'total', m.total, ${levelsAt(sql`m.total`)}) as embers
      from granted g, moved m`;
  },
);

type GrantNow = Required<AwardClaim> & { limit: number };

/**
 * Grants an award in one statement: wallet, entry and grant. Returns null and changes nothing if the grant
 * is not allowed or the wallet changed concurrently; the caller then retries under the wallet's lock.
 */
export async function grantAtOnce(
  em: EntityManager,
  { isGuest = false, ...claim }: AwardClaim,
  limit: number,
): Promise<{ grant: Grant; embers: WalletView["embers"] } | null> {
  const [row] = await grantNow(em, { ...claim, isGuest, limit });
  if (row === undefined) return null;
  const { embers, ...grant } = row;
  return { grant, embers };
}

export async function insertGrant(
  em: EntityManager,
  grant: Grant & { playerId: number; entryId: number; ref: string | null },
): Promise<void> {
  await changeRows(em, (db) =>
    db.insertInto("award_grants").values({
      player_id: grant.playerId,
      award_id: grant.awardId,
      game: grant.game,
      ember_value: grant.emberValue,
      repeatable: grant.repeatable,
      entry_id: grant.entryId,
      granted_at: new Date(grant.grantedAtMs),
      ref: grant.ref,
    }),
  );
}

/** Grants of a player, newest first; of one game if given. */
export function listGrants(
  em: EntityManager,
  playerId: number,
  options: { game: string | null; limit: number },
): Promise<Grant[]> {
  return findRows(em, (db) => {
    const own = db
      .selectFrom("award_grants")
      .select(grantColumns)
      .where("player_id", "=", playerId)
      .orderBy("entry_id", "desc")
      .limit(options.limit);
    return options.game === null ? own : own.where("game", "=", options.game);
  });
}

/** Inserts or updates definitions; others stay. Existing grants keep their value. */
export async function saveAwards(em: EntityManager, awards: readonly AwardTerms[]): Promise<void> {
  if (awards.length === 0) return;
  const rows = awards.map((award) => ({
    award_id: award.awardId,
    game: award.game,
    name: award.name,
    ember_value: award.emberValue,
    repeatable: award.repeatable,
    daily_limit: award.dailyLimit,
    client_claimable: award.clientClaimable,
    is_active: award.isActive,
  }));
  await changeRows(em, (db) =>
    db
      .insertInto("award_definitions")
      .values(rows)
      .onConflict((conflict) =>
        conflict.columns(["award_id", "game"]).doUpdateSet((eb) => ({
          name: eb.ref("excluded.name"),
          ember_value: eb.ref("excluded.ember_value"),
          repeatable: eb.ref("excluded.repeatable"),
          daily_limit: eb.ref("excluded.daily_limit"),
          client_claimable: eb.ref("excluded.client_claimable"),
          is_active: eb.ref("excluded.is_active"),
        })),
      ),
  );
}
