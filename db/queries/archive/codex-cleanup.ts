import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { advisoryLocks } from "../../advisory-locks.ts";
import { importStatementSeconds } from "./codex-import.ts";
import { setStatementTimeout } from "../../prepared.ts";
import { findRow, rowsOf } from "../rows.ts";

/** Maximum number of documents, and of assets, deleted in one batch. */
export const cleanupBatch = 2_000;

export interface Cleaned {
  documents: number;
  assets: number;
  /** True if no unreferenced document or asset is left. */
  isDone: boolean;
}

/**
 * Deletes documents without a version (after a patch was replaced) and assets without a document.
 * Returns null while an import is running, because it may be about to reference them. Requires its
 * own transaction.
 */
export async function cleanArchive(em: EntityManager): Promise<Cleaned | null> {
  const isFree = sql<boolean>`pg_try_advisory_xact_lock(${advisoryLocks.archive}::int, 0)`;
  const lock = await findRow(em, (db) => db.selectNoFrom(isFree.as("isFree")));
  if (!lock?.isFree) return null;
  await setStatementTimeout(em, importStatementSeconds);
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
  // An asset whose documents are deleted in the next batch is also deleted there.
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
  // Raw SQL: deletes in a `with` clause whose only result is the number of rows.
  const [row] = await rowsOf(em, query);
  return row?.count ?? 0;
}
