import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import type { WalletDifference, WalletRound } from "../../entities/wallet-check.ts";
import { millis, nullableMillis } from "../expressions.ts";
import { changeRows, findRow, findRows, rowsOf } from "../rows.ts";

/** A wallet's stored values beside those of its ledger; zeros if there is none. */
export interface LedgerTotals {
  playerId: number;
  currency: "embers" | "ingots";
  wallet: { balance: number; total: number; entries: number; level: number };
  ledger: { balance: number; total: number; entries: number; level: number };
  /** Entries whose number, balance or total does not follow from the previous entry. */
  broken: number;
  /** Number of grants, of entries that paid grants, and of matching pairs. */
  grants: number;
  payments: number;
  pairs: number;
}

export type Problem = WalletDifference["problems"][number];

/** Players with ids in (`after`, `upTo`]. */
export interface PlayerRange {
  after: number;
  upTo: number;
}

/** Every wallet and ledger of these players, in one statement, so as of one moment. */
export async function readLedgerTotals(
  em: EntityManager,
  { after, upTo }: PlayerRange,
  countedSources: readonly string[],
): Promise<LedgerTotals[]> {
  const counted = JSON.stringify(countedSources);
  // Raw SQL: running sums over a whole ledger.
  return rowsOf(
    em,
    sql`with entries as (
        select *, case when amount > 0 and source in (select jsonb_array_elements_text(${counted}::jsonb))
          then amount else 0 end as counted
        from ledger_entries where player_id > ${after} and player_id <= ${upTo}
      ), chain as (
        select *, row_number() over run as n, sum(amount) over run as running,
          sum(counted) over run as running_total
        from entries window run as (partition by player_id, currency order by id)
      ), ledgers as (
        select player_id, currency, sum(amount) as balance, sum(counted) as total, count(*) as entries,
          count(*) filter (where seq <> n or balance <> running or total <> running_total) as broken,
          count(*) filter (where source = 'award') as payments
        from chain group by player_id, currency
      ), granted as (
        select g.player_id, 'embers' as currency, count(*) as grants, count(e.id) as pairs
        from award_grants g left join ledger_entries e on e.id = g.entry_id
          and e.player_id = g.player_id and e.currency = 'embers' and e.source = 'award'
          and e.amount = g.ember_value and e.ref_id = g.award_id
        where g.player_id > ${after} and g.player_id <= ${upTo} group by g.player_id
      ), own as (
        select * from wallets where player_id > ${after} and player_id <= ${upTo}
      )
      select coalesce(w.player_id, l.player_id, g.player_id) as "playerId",
        coalesce(w.currency, l.currency, g.currency) as currency,
        json_build_object('balance', coalesce(w.balance, 0), 'total', coalesce(w.total, 0),
          'entries', coalesce(w.entries, 0),
          'level', (select count(*) from levels where threshold <= coalesce(w.total, 0))) as wallet,
        json_build_object('balance', coalesce(l.balance, 0), 'total', coalesce(l.total, 0),
          'entries', coalesce(l.entries, 0),
          'level', (select count(*) from levels where threshold <= coalesce(l.total, 0))) as ledger,
        coalesce(l.broken, 0)::int as broken, coalesce(g.grants, 0)::int as grants,
        coalesce(l.payments, 0)::int as payments, coalesce(g.pairs, 0)::int as pairs
      from own w full join ledgers l using (player_id, currency)
        full join granted g using (player_id, currency)
      order by 1, 2`,
  );
}

/**
 * Last player of the batch after `after`: bounded by the number of wallets and entries, at least one
 * player. Null if no wallet is left.
 */
export async function endOfBatch(
  em: EntityManager,
  after: number,
  bounds: { wallets: number; entries: number },
): Promise<number | null> {
  const row = await findRow(em, (db) =>
    db
      .selectFrom((of) =>
        of
          .selectFrom((inner) =>
            inner
              .selectFrom("wallets")
              .select(["player_id", "currency", "entries"])
              .where("player_id", ">", after)
              .orderBy("player_id")
              .orderBy("currency")
              .limit(bounds.wallets)
              .as("next"),
          )
          .select([
            "player_id",
            sql<number>`row_number() over (order by player_id, currency)`.as("n"),
            sql<number>`sum(entries) over (order by player_id, currency)`.as("entries"),
          ])
          .as("counted"),
      )
      .select((eb) => eb.fn.max<number | null>("player_id").as("end"))
      .where((eb) => eb.or([eb("n", "=", 1), eb("entries", "<=", bounds.entries)])),
  );
  return row?.end ?? null;
}

/** Serializes reconciliation runs until the transaction ends. */
export async function lockRuns(em: EntityManager): Promise<void> {
  await findRow(em, (db) =>
    db.selectNoFrom(sql`pg_advisory_xact_lock(hashtext('wallet_rounds'))`.as("locked")),
  );
}

/** The open run, or a new one. */
export async function openRun(
  em: EntityManager,
  now: Date,
): Promise<{ id: number; cursor: number }> {
  const open = await findRow(em, (db) =>
    db
      .selectFrom("wallet_rounds")
      .select(["id", "cursor"])
      .where("finished_at", "is", null)
      .orderBy("id", "desc")
      .limit(1),
  );
  if (open !== null) return open;
  const made = await findRow(em, (db) =>
    db.insertInto("wallet_rounds").values({ started_at: now }).returning(["id", "cursor"]),
  );
  if (made === null) throw new Error("an insert returned nothing");
  return made;
}

/** Adds a batch to a run, ending the run if it is the last; deletes all but the newest `kept` ended runs. */
export async function recordBatch(
  em: EntityManager,
  id: number,
  batch: { cursor: number; wallets: number; entries: number; differences: number },
  end: { finishedAt: Date; kept: number } | null,
): Promise<void> {
  await changeRows(em, (db) =>
    db
      .updateTable("wallet_rounds")
      .set((eb) => ({
        cursor: batch.cursor,
        num_wallets: eb("num_wallets", "+", batch.wallets),
        num_entries: eb("num_entries", "+", batch.entries),
        num_differences: eb("num_differences", "+", batch.differences),
        finished_at: end?.finishedAt ?? null,
      }))
      .where("id", "=", id),
  );
  if (end === null) return;
  await changeRows(em, (db) =>
    db
      .deleteFrom("wallet_rounds")
      .where("id", "<=", (eb) =>
        eb.selectFrom("wallet_rounds").select("id").orderBy("id", "desc").offset(end.kept).limit(1),
      ),
  );
}

export interface Difference extends Pick<WalletDifference, "playerId" | "currency" | "problems"> {}

/** Replaces the differences of these players; returns true for each new one. */
export async function replaceDifferences(
  em: EntityManager,
  { after, upTo }: PlayerRange,
  found: readonly Difference[],
  now: Date,
): Promise<boolean[]> {
  const input = JSON.stringify(found);
  const rows = sql`jsonb_to_recordset(${input}::jsonb) as x("playerId" int, currency text, problems jsonb)`;
  await changeRows(em, (db) =>
    db
      .deleteFrom("wallet_differences as d")
      .where("d.player_id", ">", after)
      .where("d.player_id", "<=", upTo)
      .where(
        sql<boolean>`not exists (select 1 from ${rows}
          where x."playerId" = d.player_id and x.currency = d.currency)`,
      ),
  );
  // Raw SQL: rows from one JSON value, and whether each is new.
  const saved = await rowsOf<{ playerId: number; currency: string; isNew: boolean }>(
    em,
    sql`insert into wallet_differences as d (player_id, currency, problems, found_at, seen_at)
      select x."playerId", x.currency, x.problems, ${now}::timestamptz, ${now}::timestamptz from ${rows}
      on conflict (player_id, currency) do update set problems = excluded.problems, seen_at = excluded.seen_at
      returning player_id as "playerId", currency, (xmax = 0) as "isNew"`,
  );
  return found.map(({ playerId, currency }) =>
    saved.some((one) => one.playerId === playerId && one.currency === currency && one.isNew),
  );
}

export async function countDifferences(em: EntityManager): Promise<number> {
  const row = await findRow(em, (db) =>
    db.selectFrom("wallet_differences").select((eb) => eb.fn.countAll<number>().as("count")),
  );
  return row?.count ?? 0;
}

export type RunView = Pick<WalletRound, "numWallets" | "numEntries" | "numDifferences"> & {
  startedAtMs: number;
  finishedAtMs: number | null;
};
export type DifferenceView = Difference & { foundAtMs: number; seenAtMs: number };

/** Runs and differences for operators, newest first. */
export async function readReconciliation(
  em: EntityManager,
  limits: { rounds: number; differences: number },
): Promise<{ rounds: RunView[]; differences: DifferenceView[]; numDifferences: number }> {
  const rounds = await findRows(em, (db) =>
    db
      .selectFrom("wallet_rounds")
      .select([
        "num_wallets as numWallets",
        "num_entries as numEntries",
        "num_differences as numDifferences",
        millis("started_at").as("startedAtMs"),
        nullableMillis("finished_at").as("finishedAtMs"),
      ])
      .orderBy("id", "desc")
      .limit(limits.rounds),
  );
  const differences = await findRows(em, (db) =>
    db
      .selectFrom("wallet_differences")
      .select([
        "player_id as playerId",
        "currency",
        "problems",
        millis("found_at").as("foundAtMs"),
        millis("seen_at").as("seenAtMs"),
      ])
      .orderBy("found_at", "desc")
      .orderBy("player_id")
      .limit(limits.differences),
  );
  return { rounds, differences, numDifferences: await countDifferences(em) };
}
