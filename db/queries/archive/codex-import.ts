import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { advisoryLocks } from "../../advisory-locks.ts";
import type { CodexPatch } from "./codex-directory.ts";
import { isInState, openOrd, type StateAt } from "./codex-states.ts";
import { setStatementTimeout } from "../../prepared.ts";
import { upstreamKeyOn } from "./codex-keys.ts";
import { changeRows, findRow, findRows, rowsOf, type Build } from "../rows.ts";

/** Statement timeout of imports and of the clean-up. */
export const importStatementSeconds = 600;
const lockWaitSeconds = 30;

/**
 * Locks the game for this transaction (IMP-03). False if another import has held it for more than
 * half a minute; the transaction is then aborted.
 */
export async function lockGame(em: EntityManager, slug: string): Promise<boolean> {
  await setStatementTimeout(em, importStatementSeconds);
  // Raw SQL: settings of a transaction.
  await rowsOf(em, sql.raw(`set local lock_timeout = '${lockWaitSeconds}s'`));
  try {
    await findRow(em, (db) =>
      db.selectNoFrom(
        sql`pg_advisory_xact_lock_shared(${advisoryLocks.archive}::int, 0)`.as("locked"),
      ),
    );
    await findRow(em, (db) =>
      db.selectNoFrom(
        sql`pg_advisory_xact_lock(${advisoryLocks.gameImport}::int, hashtext(${slug}))`.as(
          "locked",
        ),
      ),
    );
    // Later waits are for imports of other games, which end by themselves.
    await rowsOf(em, sql.raw("set local lock_timeout = default"));
    return true;
  } catch (error) {
    if (isLockTimeout(error)) return false;
    throw error;
  }
}

function isLockTimeout(error: unknown): boolean {
  for (let current = error; current instanceof Error; current = current.cause)
    if ((current as { code?: unknown }).code === "55P03") return true;
  return false;
}

export interface KeptEntity {
  hash: string;
  upstreamKey: string | null;
}

/** Id -> content hash of every entity that exists in a state. */
export async function readState(
  em: EntityManager,
  state: StateAt | null,
): Promise<Map<string, KeptEntity>> {
  if (state === null) return new Map();
  const rows = await findRows(em, (db) =>
    db
      .selectFrom("codex_versions as v")
      .innerJoin("codex_entities as e", "e.id", "v.entity_id")
      .innerJoin("codex_documents as d", "d.id", "v.document_id")
      .select(["e.key", "d.hash", upstreamKeyOn(state.branchId).as("upstreamKey")])
      .where(isInState(state, "v")),
  );
  return new Map(rows.map(({ key, ...kept }) => [key, kept]));
}

/** The state before a patch, derived from the state at it: reads only what the patch changed. */
export async function readStateBefore(
  em: EntityManager,
  patch: StateAt,
  current: ReadonlyMap<string, KeptEntity>,
): Promise<Map<string, KeptEntity>> {
  const rows = await findRows(em, (db) =>
    db
      .selectFrom("codex_versions as v")
      .innerJoin("codex_entities as e", "e.id", "v.entity_id")
      .leftJoin("codex_versions as p", (join) =>
        join
          .onRef("p.branch_id", "=", "v.branch_id")
          .onRef("p.entity_id", "=", "v.entity_id")
          .onRef("p.to_ord", "=", "v.from_ord"),
      )
      .leftJoin("codex_documents as d", "d.id", "p.document_id")
      .select(["e.key", upstreamKeyOn(patch.branchId).as("upstreamKey"), "d.hash"])
      .where("v.branch_id", "=", patch.branchId)
      .where("v.from_ord", "=", patch.ord)
      .where("v.is_inherited", "=", sql.lit(false)),
  );
  const before = new Map(current);
  for (const { key, upstreamKey, hash } of rows)
    if (hash === null) before.delete(key);
    else before.set(key, { hash, upstreamKey });
  return before;
}

/** Locale -> hash of its texts in a state. */
export async function readTextHashes(
  em: EntityManager,
  state: StateAt | null,
): Promise<Map<string, string>> {
  if (state === null) return new Map();
  const rows = await findRows(em, (db) =>
    db.selectFrom("codex_texts").select(["locale", "hash"]).where(isInState(state, "codex_texts")),
  );
  return new Map(rows.map(({ locale, hash }) => [locale, hash]));
}

/** Locale -> number of its texts in a state. */
export async function countTexts(
  em: EntityManager,
  state: StateAt | null,
): Promise<Map<string, number>> {
  if (state === null) return new Map();
  const rows = await findRows(em, (db) =>
    db
      .selectFrom("codex_texts")
      .select(["locale", sql<number>`(select count(*) from jsonb_object_keys(texts))`.as("count")])
      .where(isInState(state, "codex_texts")),
  );
  return new Map(rows.map(({ locale, count }) => [locale, count]));
}

export async function countGames(em: EntityManager): Promise<number> {
  const row = await findRow(em, (db) =>
    db.selectFrom("codex_games").select((eb) => eb.fn.countAll<number>().as("count")),
  );
  return row?.count ?? 0;
}

export async function saveGame(
  em: EntityManager,
  game: { slug: string; displayName: string },
): Promise<number> {
  return idOf(em, (db) =>
    db
      .insertInto("codex_games")
      .values({ slug: game.slug, display_name: game.displayName })
      .onConflict((conflict) =>
        conflict
          .column("slug")
          .doUpdateSet((eb) => ({ display_name: eb.ref("excluded.display_name") })),
      )
      .returning("id"),
  );
}

/** Inserts a branch and copies the state of its fork patch (COD-15). */
export async function insertBranch(
  em: EntityManager,
  branch: { gameId: number; slug: string; parentId: number | null; fork: CodexPatch | null },
): Promise<number> {
  const { gameId, slug, parentId, fork } = branch;
  const id = await idOf(em, (db) =>
    db
      .insertInto("codex_branches")
      .values({
        game_id: gameId,
        slug,
        parent_id: parentId,
        fork_patch_id: fork?.id ?? null,
      })
      .returning("id"),
  );
  if (fork !== null) await inheritState(em, id, fork);
  return id;
}

async function inheritState(em: EntityManager, id: number, fork: StateAt): Promise<void> {
  const own = sql<number>`${id}::int`.as("branch_id");
  const from = sql<number>`${fork.ord}::int`.as("from_ord");
  const to = sql<number>`${openOrd}::int`.as("to_ord");
  const inherited = sql<boolean>`true`.as("is_inherited");
  await changeRows(em, (db) =>
    db
      .insertInto("codex_versions")
      .columns([
        "branch_id",
        "entity_id",
        "document_id",
        "patch_id",
        "from_ord",
        "to_ord",
        "is_inherited",
      ])
      .expression(
        db
          .selectFrom("codex_versions")
          .select([own, "entity_id", "document_id", "patch_id", from, to, inherited])
          .where(isInState(fork, "codex_versions"))
          .where("document_id", "is not", null),
      ),
  );
  await changeRows(em, (db) =>
    db
      .insertInto("codex_texts")
      .columns(["branch_id", "locale", "from_ord", "to_ord", "hash", "texts", "is_inherited"])
      .expression(
        db
          .selectFrom("codex_texts")
          .select([own, "locale", from, to, "hash", "texts", inherited])
          .where(isInState(fork, "codex_texts")),
      ),
  );
}

export async function insertPatch(
  em: EntityManager,
  patch: Omit<CodexPatch, "id" | "branch" | "revision">,
): Promise<number> {
  const p = patch;
  return idOf(em, (db) =>
    db
      .insertInto("codex_patches")
      .values({
        branch_id: p.branchId,
        ord: p.ord,
        parent_id: p.parentId,
        version: p.version,
        version_raw: p.versionRaw,
        released_at: dateOf(p.releasedAt),
        imported_at: new Date(p.importedAt),
        num_added: p.numAdded,
        num_changed: p.numChanged,
        num_removed: p.numRemoved,
      })
      .returning("id"),
  );
}

/** Updates counts and date of a patch whose rows were replaced. */
export async function revisePatch(
  em: EntityManager,
  patch: Pick<
    CodexPatch,
    "id" | "releasedAt" | "importedAt" | "numAdded" | "numChanged" | "numRemoved"
  >,
): Promise<void> {
  await changeRows(em, (db) =>
    db
      .updateTable("codex_patches")
      .set((eb) => ({
        released_at: dateOf(patch.releasedAt),
        imported_at: new Date(patch.importedAt),
        num_added: patch.numAdded,
        num_changed: patch.numChanged,
        num_removed: patch.numRemoved,
        revision: eb("revision", "+", 1),
      }))
      .where("id", "=", patch.id),
  );
}

/** Clients cache responses by this number. */
export async function raiseGeneration(em: EntityManager, gameId: number): Promise<number> {
  const row = await findRow(em, (db) =>
    db
      .updateTable("codex_games")
      .set((eb) => ({ generation: eb("generation", "+", 1) }))
      .where("id", "=", gameId)
      .returning("generation"),
  );
  return row?.generation ?? 0;
}

const dateOf = (ms: number | null) => (ms === null ? null : new Date(ms));

async function idOf(em: EntityManager, build: Build<{ id: number }>): Promise<number> {
  const row = await findRow(em, build);
  if (row === null) throw new Error("the insert gave no id");
  return row.id;
}
