import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { openOrd, type CodexPatch } from "./codex-directory.ts";
import { allowSeconds } from "../prepared.ts";
import { upstreamKeyOn } from "./codex-keys.ts";
import { rowsOf } from "./rows.ts";

/** State of a branch: its rows with `fromOrd <= ord < toOrd`. */
export interface StateAt {
  branchId: number;
  ord: number;
}

/** First key of the advisory lock; the second is the game. */
const importLock = 7_346_202;
/** A lock that all imports share and the clean-up has alone, and how long one statement of either may take. */
export const imports = { lock: 7_346_203, all: 0, statementSeconds: 600 } as const;
const lockWaitSeconds = 30;

/**
 * Holds the game for this transaction (IMP-03). False when another import holds it for longer than half a
 * minute; the transaction is lost then.
 */
export async function lockGame(em: EntityManager, slug: string): Promise<boolean> {
  await allowSeconds(em, imports.statementSeconds);
  await rowsOf(em, sql.raw(`set local lock_timeout = '${lockWaitSeconds}s'`));
  try {
    await rowsOf(
      em,
      sql`select pg_advisory_xact_lock_shared(${imports.lock}::int, ${imports.all}::int)`,
    );
    await rowsOf(em, sql`select pg_advisory_xact_lock(${importLock}::int, hashtext(${slug}))`);
    // What is waited for from here on belongs to an import of another game, which ends by itself.
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

/** Id -> content hash of everything that exists in a state. */
export async function readState(
  em: EntityManager,
  state: StateAt | null,
): Promise<Map<string, KeptEntity>> {
  if (state === null) return new Map();
  // One document instead of a row each, which would cost more than everything else about an unchanged entity.
  const [row] = await rowsOf(
    em,
    sql<{ entities: string | null }>`
      select json_agg(json_build_array(e.key, d.hash, ${upstreamKeyOn(state.branchId)}))::text as entities
      from codex_versions v
      join codex_entities e on e.id = v.entity_id
      join codex_documents d on d.id = v.document_id
      where v.branch_id = ${state.branchId} and v.from_ord <= ${state.ord}
        and v.to_ord > ${state.ord}`,
  );
  const entities = JSON.parse(row?.entities ?? "[]") as [string, string, string | null][];
  return new Map(entities.map(([key, hash, upstreamKey]) => [key, { hash, upstreamKey }]));
}

/** The state before a patch, worked out from the state at it: only what the patch changed is read. */
export async function readStateBefore(
  em: EntityManager,
  patch: StateAt,
  current: ReadonlyMap<string, KeptEntity>,
): Promise<Map<string, KeptEntity>> {
  const rows = await rowsOf(
    em,
    sql<{ key: string; upstreamKey: string | null; hash: string | null }>`
      select e.key, ${upstreamKeyOn(patch.branchId)} as "upstreamKey", d.hash
      from codex_versions v
      join codex_entities e on e.id = v.entity_id
      left join codex_versions p on p.branch_id = v.branch_id and p.entity_id = v.entity_id
        and p.to_ord = v.from_ord
      left join codex_documents d on d.id = p.document_id
      where v.branch_id = ${patch.branchId} and v.from_ord = ${patch.ord} and not v.is_inherited`,
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
  const rows = await rowsOf(
    em,
    sql<{ locale: string; hash: string }>`
      select locale, hash from codex_texts where branch_id = ${state.branchId}
        and from_ord <= ${state.ord} and to_ord > ${state.ord}`,
  );
  return new Map(rows.map(({ locale, hash }) => [locale, hash]));
}

/** Locale -> number of its texts in a state. */
export async function countTexts(
  em: EntityManager,
  state: StateAt | null,
): Promise<Map<string, number>> {
  if (state === null) return new Map();
  const rows = await rowsOf(
    em,
    sql<{ locale: string; count: number }>`
      select locale, (select count(*)::int from jsonb_object_keys(texts)) as count
      from codex_texts where branch_id = ${state.branchId}
        and from_ord <= ${state.ord} and to_ord > ${state.ord}`,
  );
  return new Map(rows.map(({ locale, count }) => [locale, count]));
}

export async function saveGame(
  em: EntityManager,
  game: { slug: string; displayName: string },
): Promise<number> {
  return idOf(
    em,
    sql<{ id: number }>`
      insert into codex_games (slug, display_name) values (${game.slug}, ${game.displayName})
      on conflict (slug) do update set display_name = excluded.display_name
      returning id`,
  );
}

/** A new branch, with the state of its fork patch as its own (COD-15). */
export async function insertBranch(
  em: EntityManager,
  branch: { gameId: number; slug: string; parentId: number | null; fork: CodexPatch | null },
): Promise<number> {
  const { gameId, slug, parentId, fork } = branch;
  const id = await idOf(
    em,
    sql<{ id: number }>`
      insert into codex_branches (game_id, slug, parent_id, fork_patch_id)
      values (${gameId}, ${slug}, ${parentId}, ${fork?.id ?? null}) returning id`,
  );
  if (fork === null) return id;
  const { branchId, ord } = fork;
  await rowsOf(
    em,
    sql`insert into codex_versions
        (branch_id, entity_id, document_id, patch_id, from_ord, to_ord, is_inherited)
      select ${id}::int, entity_id, document_id, patch_id, ${ord}::int, ${openOrd}::int, true
      from codex_versions
      where branch_id = ${branchId} and from_ord <= ${ord} and to_ord > ${ord}
        and document_id is not null`,
  );
  await rowsOf(
    em,
    sql`insert into codex_texts (branch_id, locale, from_ord, to_ord, hash, texts, is_inherited)
      select ${id}::int, locale, ${ord}::int, ${openOrd}::int, hash, texts, true
      from codex_texts
      where branch_id = ${branchId} and from_ord <= ${ord} and to_ord > ${ord}`,
  );
  return id;
}

export async function insertPatch(
  em: EntityManager,
  patch: Omit<CodexPatch, "id" | "branch" | "revision">,
): Promise<number> {
  const p = patch;
  return idOf(
    em,
    sql<{ id: number }>`
      insert into codex_patches (branch_id, ord, parent_id, version, version_raw, released_at,
        imported_at, num_added, num_changed, num_removed)
      values (${p.branchId}, ${p.ord}, ${p.parentId}, ${p.version}, ${p.versionRaw},
        ${dateOf(p.releasedAt)}, ${dateOf(p.importedAt)}, ${p.numAdded}, ${p.numChanged},
        ${p.numRemoved})
      returning id`,
  );
}

/** New numbers and date of a patch whose rows were replaced. */
export async function revisePatch(
  em: EntityManager,
  patch: Pick<
    CodexPatch,
    "id" | "releasedAt" | "importedAt" | "numAdded" | "numChanged" | "numRemoved"
  >,
): Promise<void> {
  await rowsOf(
    em,
    sql`update codex_patches set released_at = ${dateOf(patch.releasedAt)},
        imported_at = ${dateOf(patch.importedAt)}, num_added = ${patch.numAdded},
        num_changed = ${patch.numChanged}, num_removed = ${patch.numRemoved},
        revision = revision + 1
      where id = ${patch.id}`,
  );
}

/** Readers keep what they made under this number. */
export async function raiseGeneration(em: EntityManager, gameId: number): Promise<number> {
  const [row] = await rowsOf(
    em,
    sql<{ generation: number }>`update codex_games set generation = generation + 1
      where id = ${gameId} returning generation`,
  );
  return row?.generation ?? 0;
}

const dateOf = (ms: number | null) => (ms === null ? null : new Date(ms));

async function idOf(em: EntityManager, query: ReturnType<typeof sql<{ id: number }>>) {
  const [row] = await rowsOf(em, query);
  if (row === undefined) throw new Error("the insert gave no id");
  return row.id;
}
