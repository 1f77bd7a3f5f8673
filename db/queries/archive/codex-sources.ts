import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import type { CodexPatch } from "./codex-directory.ts";
import { readState } from "./codex-import.ts";
import { changeRows, rowsOf } from "../rows.ts";

/** Maximum characters of stored facts; for a larger game each import reads the state again. */
const maxFactsLength = 64 * 1024 * 1024;
/** Share of a state that may be stored as changes before the whole state is stored again. */
const changedPart = 1 / 4;

/** The fields of an entity that an import compares. */
export interface KnownEntity {
  key: string;
  /** Empty if it has none. */
  upstreamKey: string;
  hash: string;
  /** Digest of the source text of the entity; empty if unknown. */
  digest: string;
}

export interface KnownState {
  /** By id. */
  entities: ReadonlyMap<string, KnownEntity>;
  /** Entities whose source text has this digest: importing it again would give the same entity. */
  byDigest: ReadonlyMap<string, KnownEntity>;
  /** The stored snapshot; null if the whole state has to be stored. */
  written: Written | null;
}

/** A stored snapshot of a whole state, and the facts that have changed since. */
interface Written {
  branchId: number;
  patchId: number;
  revision: number;
  changes: readonly string[];
}

/** The state at a patch; `context` digests all inputs of an entity other than its source text. */
export async function readKnown(
  em: EntityManager,
  patch: CodexPatch | null,
  context: string,
): Promise<KnownState> {
  const byDigest = new Map<string, KnownEntity>();
  if (patch === null) return { entities: new Map(), byDigest, written: null };
  // Raw SQL: a join that falls back to the patch itself.
  const [row] = await rowsOf(
    em,
    sql<Omit<Written, "changes"> & { context: string; entities: string; changes: string }>`
      select s.branch_id as "branchId", s.patch_id as "patchId", s.revision, s.context, s.entities,
        coalesce(c.changes, '[]') as changes
      from codex_sources s
      left join codex_source_changes c on c.branch_id = s.branch_id
        and c.source_patch_id = s.patch_id and c.source_revision = s.revision
      where s.branch_id = ${patch.branchId} and coalesce(c.patch_id, s.patch_id) = ${patch.id}
        and coalesce(c.revision, s.revision) = ${patch.revision}`,
  );
  if (row === undefined) {
    const state = [...(await readState(em, patch))].map(([key, { hash, upstreamKey }]) => [
      key,
      { key, upstreamKey: upstreamKey ?? "", hash, digest: "" },
    ]);
    return { entities: new Map(state as [string, KnownEntity][]), byDigest, written: null };
  }
  const entities = new Map<string, KnownEntity>();
  takeFacts(entities, JSON.parse(row.entities) as string[]);
  const changes = JSON.parse(row.changes) as string[];
  takeFacts(entities, changes);
  if (row.context !== context) return { entities, byDigest, written: null };
  for (const entity of entities.values())
    if (entity.digest !== "") byDigest.set(entity.digest, entity);
  const { branchId, patchId, revision } = row;
  return { entities, byDigest, written: { branchId, patchId, revision, changes } };
}

/** Four texts per entity: key, upstream key, hash, digest. A removed entity has an empty hash. */
function takeFacts(entities: Map<string, KnownEntity>, facts: readonly string[]): void {
  for (let at = 0; at < facts.length; at += 4) {
    const key = facts[at] ?? "";
    const hash = facts[at + 2] ?? "";
    if (hash === "") entities.delete(key);
    else
      entities.set(key, {
        key,
        upstreamKey: facts[at + 1] ?? "",
        hash,
        digest: facts[at + 3] ?? "",
      });
  }
}

const addFacts = (facts: string[], { key, upstreamKey, hash, digest }: KnownEntity) =>
  facts.push(key, upstreamKey, hash, digest);

export interface KnownChanges {
  /** The state before the patch. */
  known: KnownState;
  context: string;
  /** Entities read from the source, by id. */
  read: ReadonlyMap<string, KnownEntity>;
  /** Ids of removed entities. */
  gone: readonly string[];
}

/**
 * Stores the state after a patch, so that the next import need not read it row by row: either the
 * changes since the last snapshot, or a new snapshot if there are many. Stores nothing for a patch
 * that the branch inherits.
 */
export async function saveKnown(
  em: EntityManager,
  { branchId, patchId }: { branchId: number; patchId: number },
  { known, context, read, gone }: KnownChanges,
): Promise<void> {
  const { entities, written } = known;
  if (written?.branchId === branchId) {
    const changes = [...written.changes];
    for (const entity of read.values()) addFacts(changes, entity);
    for (const key of gone) changes.push(key, "", "", "");
    const isFew = changes.length < entities.size * 4 * changedPart;
    if (isFew && (await saveChanges(em, patchId, { ...written, changes }))) return;
  }
  const facts: string[] = [];
  const without = new Set(gone);
  for (const entity of entities.values())
    if (!without.has(entity.key) && !read.has(entity.key)) addFacts(facts, entity);
  for (const entity of read.values()) addFacts(facts, entity);
  await saveWhole(em, branchId, patchId, context, facts);
}

/** False if the snapshot the changes refer to no longer exists. */
async function saveChanges(
  em: EntityManager,
  patchId: number,
  { branchId, patchId: sourceId, revision, changes }: Written,
): Promise<boolean> {
  const numSaved = await changeRows(em, (db) =>
    db
      .insertInto("codex_source_changes")
      .columns([
        "branch_id",
        "source_patch_id",
        "source_revision",
        "patch_id",
        "revision",
        "changes",
      ])
      .expression(
        db
          .selectFrom("codex_sources as s")
          .innerJoin("codex_patches as p", "p.branch_id", "s.branch_id")
          .select((eb) => [
            "s.branch_id",
            "s.patch_id",
            "s.revision",
            "p.id",
            "p.revision as own_revision",
            eb.val(JSON.stringify(changes)).as("changes"),
          ])
          .where("p.id", "=", patchId)
          .where("s.branch_id", "=", branchId)
          .where("s.patch_id", "=", sourceId)
          .where("s.revision", "=", revision),
      )
      .onConflict((conflict) =>
        conflict.column("branch_id").doUpdateSet((eb) => ({
          source_patch_id: eb.ref("excluded.source_patch_id"),
          source_revision: eb.ref("excluded.source_revision"),
          patch_id: eb.ref("excluded.patch_id"),
          revision: eb.ref("excluded.revision"),
          changes: eb.ref("excluded.changes"),
        })),
      ),
  );
  return numSaved > 0;
}

async function saveWhole(
  em: EntityManager,
  branchId: number,
  patchId: number,
  context: string,
  facts: readonly string[],
): Promise<void> {
  const length = facts.reduce((sum, fact) => sum + fact.length, 0);
  if (length > maxFactsLength) return;
  await changeRows(em, (db) =>
    db
      .insertInto("codex_sources")
      .columns(["branch_id", "patch_id", "revision", "context", "entities"])
      .expression(
        db
          .selectFrom("codex_patches")
          .select((eb) => [
            "branch_id",
            "id",
            "revision",
            eb.val(context).as("context"),
            eb.val(JSON.stringify(facts)).as("entities"),
          ])
          .where("id", "=", patchId)
          .where("branch_id", "=", branchId),
      )
      .onConflict((conflict) =>
        conflict.column("branch_id").doUpdateSet((eb) => ({
          patch_id: eb.ref("excluded.patch_id"),
          revision: eb.ref("excluded.revision"),
          context: eb.ref("excluded.context"),
          entities: eb.ref("excluded.entities"),
        })),
      ),
  );
}
