import type { EntityManager } from "@mikro-orm/postgresql";
import { sql, type RawBuilder } from "kysely";
import { columnsText, millis } from "../expressions.ts";
import { changeRows, findRow, rowsOf } from "../rows.ts";

export interface WalletKey {
  playerId: number;
  currency: "embers" | "ingots";
}

export interface WalletState {
  balance: number;
  total: number;
}

export interface Entry {
  id: number;
  amount: number;
  source: string;
  reason: string;
  refType: string;
  refId: string;
  createdAtMs: number;
}

export interface NewEntry extends WalletKey, Omit<Entry, "id" | "createdAtMs"> {
  /** Amount added to the lifetime total: 0 or the movement's amount. */
  counted: number;
  at: Date;
}

/** A level and the next one, null at the top (WAL-01). */
export interface Level {
  ord: number;
  name: string;
  threshold: number;
}

const entryColumns = [
  "id",
  "amount",
  "source",
  "reason",
  "ref_type as refType",
  "ref_id as refId",
  millis("created_at").as("createdAtMs"),
] as const;

/**
 * Locks the wallet's row until the transaction ends. Every movement locks it first, which serializes the
 * movements of one wallet. Null if there is no such player.
 */
export async function lockWallet(em: EntityManager, key: WalletKey): Promise<WalletState | null> {
  const { playerId, currency } = key;
  const lock = () =>
    findRow(em, (db) =>
      db
        .selectFrom("wallets")
        .select(["balance", "total"])
        .where("player_id", "=", playerId)
        .where("currency", "=", currency)
        .forUpdate(),
    );
  const known = await lock();
  if (known !== null) return known;
  await changeRows(em, (db) =>
    db
      .insertInto("wallets")
      .columns(["player_id", "currency"])
      .expression(
        db
          .selectFrom("players")
          .select((eb) => ["id", eb.val(currency).as("currency")])
          .where("id", "=", playerId),
      )
      .onConflict((conflict) => conflict.doNothing()),
  );
  return lock();
}

/**
 * Changes the balance and inserts the entry in one statement. Returns null and changes nothing if the
 * balance would fall below zero, or balance or total would exceed `limit`.
 */
export async function moveMoney(
  em: EntityManager,
  entry: NewEntry,
  limit: number,
): Promise<Entry | null> {
  const { playerId, currency, amount, counted, source, reason, refType, refId, at } = entry;
  // Raw SQL: an update and its entry in one statement.
  const rows = await rowsOf<Entry>(
    em,
    sql`with moved as (
        update wallets set balance = balance + ${amount}::bigint, total = total + ${counted}::bigint,
          entries = entries + 1
        where player_id = ${playerId} and currency = ${currency}
          and balance + ${amount}::bigint between 0 and ${limit}::bigint
          and total + ${counted}::bigint <= ${limit}::bigint
        returning player_id, currency, balance, total, entries
      )
      insert into ledger_entries (player_id, currency, seq, amount, source, reason, ref_type, ref_id,
        balance, total, created_at)
      select player_id, currency, entries, ${amount}::bigint, ${source}, ${reason}, ${refType}, ${refId},
        balance, total, ${at}::timestamptz
      from moved returning ${columnsText(entryColumns)}`,
  );
  return rows[0] ?? null;
}

/** The entry already made with this reference; awards have none (WAL-05). */
export function findByRef(
  em: EntityManager,
  key: WalletKey & Pick<Entry, "source" | "refType" | "refId">,
): Promise<Entry | null> {
  return findRow(em, (db) =>
    db
      .selectFrom("ledger_entries")
      .select(entryColumns)
      .where("player_id", "=", key.playerId)
      .where("currency", "=", key.currency)
      .where("source", "=", key.source)
      .where("ref_type", "=", key.refType)
      .where("ref_id", "=", key.refId)
      .where("ref_id", "<>", sql.lit(""))
      .where("source", "<>", sql.lit("award")),
  );
}

export interface WalletView {
  embers: WalletState & { level: Level; nextLevel: Level | null };
  ingots: WalletState;
}

/** The levels below and above a lifetime total of Embers, as members of a JSON object. */
export const levelsAt = (total: RawBuilder<unknown>) =>
  sql`'level', (select to_json(l) from levels l where l.threshold <= ${total} order by l.threshold desc limit 1),
    'nextLevel', (select to_json(l) from levels l where l.threshold > ${total} order by l.threshold limit 1)`;

/** Both balances of a player as of one moment, with the level of the lifetime Embers. */
export async function readWallet(em: EntityManager, playerId: number): Promise<WalletView> {
  // Raw SQL: two currencies and a level, each as one JSON value.
  const [row] = await rowsOf<WalletView>(
    em,
    sql`with own as (
        select currency, balance::float8 as balance, total::float8 as total from wallets
        where player_id = ${playerId}
      ), embers as (
        select coalesce(max(balance), 0) as balance, coalesce(max(total), 0) as total from own
        where currency = 'embers'
      ), ingots as (
        select coalesce(max(balance), 0) as balance, coalesce(max(total), 0) as total from own
        where currency = 'ingots'
      )
      select json_build_object('balance', e.balance, 'total', e.total,
          ${levelsAt(sql`e.total`)}
        ) as embers,
        json_build_object('balance', i.balance, 'total', i.total) as ingots
      from embers e, ingots i`,
  );
  if (!row) throw new Error("a query without conditions gave no row");
  return row;
}

/** Entries of one wallet, newest first, with ids below `before`. */
export async function listEntries(
  em: EntityManager,
  key: WalletKey,
  page: { before: number | null; limit: number },
): Promise<Entry[]> {
  // Raw SQL: a page that begins at a given entry.
  return rowsOf(
    em,
    sql`with own as not materialized (
        select * from ledger_entries where player_id = ${key.playerId} and currency = ${key.currency}
      ), start as (
        select coalesce(
          (select seq from ledger_entries where id = ${page.before}::bigint
            and player_id = ${key.playerId} and currency = ${key.currency}),
          (select seq + 1 from own where id < ${page.before}::bigint order by seq desc limit 1), 0) as seq
      )
      select ${columnsText(entryColumns)} from own
      where ${page.before}::bigint is null or seq < (select seq from start)
      order by seq desc limit ${page.limit}`,
  );
}
