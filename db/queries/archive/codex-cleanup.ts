import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { imports } from "./codex-import.ts";
import { setStatementTimeout } from "../../prepared.ts";
import { findRow, rowsOf } from "../rows.ts";

/** Documents, and assets, that one batch deletes. */
export const cleanupBatch = 2_000;

export interface Cleaned {
  documents: number;
  assets: number;
  /** Nothing is left that nobody refers to. */
  isDone: boolean;
}

/**
 * Deletes documents that no version has (a patch was replaced) and assets that no document refers to. Null when
 * an import is running: what it is about to refer to must stay. Needs a transaction of its own.
 */
export async function cleanArchive(em: EntityManager): Promise<Cleaned | null> {
  const isFree = sql<boolean>`pg_try_advisory_xact_lock(${imports.lock}::int, ${imports.all}::int)`;
  const lock = await findRow(em, (db) => db.selectNoFrom(isFree.as("isFree")));
  if (!lock?.isFree) return null;
  await setStatementTimeout(em, imports.statementSeconds);
  const documents = await countOf(
    em,
    sql<{ count: number }>`with gone as (
        delete from codex_documents where id in (
          select d.id from codex_documents d
          left join codex_versions v on v.document_id = d.id
          where v.document_id is null order by d.id limit ${cleanupBatch})
        returning id
      ) select count(*)::int as count from gone`,
  );
  // Assets of documents that go with the next slice go with the next slice.
  const assets = await countOf(
    em,
    sql<{ count: number }>`with used as materialized (
        select distinct m[1] as hash
        from codex_documents d, regexp_matches(d.body, '"hash":"([0-9a-f]{64})"', 'g') m
      ), gone as (
        delete from codex_assets where hash in (
          select a.hash from codex_assets a
          where not exists (select 1 from used u where u.hash = a.hash)
          order by a.hash limit ${cleanupBatch})
        returning hash
      ) select count(*)::int as count from gone`,
  );
  return { documents, assets, isDone: documents < cleanupBatch && assets < cleanupBatch };
}

async function countOf(em: EntityManager, query: ReturnType<typeof sql<{ count: number }>>) {
  // Text: deletes in a with clause of which only the number comes back.
  const [row] = await rowsOf(em, query);
  return row?.count ?? 0;
}
