import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { advisoryLocks } from "../../advisory-locks.ts";
import { importStatementSeconds } from "./codex-import.ts";
import { setStatementTimeout } from "../../prepared.ts";
import { changeRows, findRow } from "../rows.ts";

const hashesInBody = sql<string>`(regexp_matches(body, '"hash":"([0-9a-f]{64})"', 'g'))[1]`;

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
  const documents = await changeRows(em, (db) =>
    db
      .deleteFrom("codex_documents")
      .where("id", "in", (eb) =>
        eb
          .selectFrom("codex_documents as d")
          .leftJoin("codex_versions as v", "v.document_id", "d.id")
          .select("d.id")
          .where("v.document_id", "is", null)
          .orderBy("d.id")
          .limit(cleanupBatch),
      ),
  );
  // An asset whose documents are deleted in the next batch is also deleted there.
  const assets = await changeRows(em, (db) =>
    db
      .with(
        (of) => of("used").materialized(),
        (of) => of.selectFrom("codex_documents").select(hashesInBody.as("hash")).distinct(),
      )
      .deleteFrom("codex_assets")
      .where("hash", "in", (eb) =>
        eb
          .selectFrom("codex_assets as a")
          .select("a.hash")
          .where(({ not, exists, selectFrom }) =>
            not(exists(selectFrom("used as u").select("u.hash").whereRef("u.hash", "=", "a.hash"))),
          )
          .orderBy("a.hash")
          .limit(cleanupBatch),
      ),
  );
  return { documents, assets, isDone: documents < cleanupBatch && assets < cleanupBatch };
}
