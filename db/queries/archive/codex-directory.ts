import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { nullableMillis } from "../expressions.ts";
import { findRows, type Builder } from "../rows.ts";

export interface CodexPatch {
  id: number;
  /** The branch it was imported on; a branch also contains its parent's patches up to the fork. */
  branchId: number;
  branch: string;
  ord: number;
  parentId: number | null;
  version: string;
  versionRaw: string;
  /** Milliseconds. */
  releasedAt: number | null;
  importedAt: number;
  numAdded: number;
  numChanged: number;
  numRemoved: number;
  revision: number;
}

export interface CodexBranch {
  id: number;
  slug: string;
  gameId: number;
  /** Identifies the branch after its latest import: game, generation and slug. */
  present: string;
  /** Slug of the parent branch, and the fork patch; null for `main`. */
  parent: string | null;
  fork: CodexPatch | null;
  /** Patches valid on the branch, oldest first, inherited ones included (COD-15). */
  patches: readonly CodexPatch[];
}

export interface CodexGame {
  id: number;
  slug: string;
  displayName: string;
  generation: number;
  /** By slug, in order of slug. */
  branches: ReadonlyMap<string, CodexBranch>;
}

export interface BranchRow {
  id: number;
  gameId: number;
  slug: string;
  parentId: number | null;
  forkPatchId: number | null;
}

export type GameRow = Omit<CodexGame, "branches">;

/**
 * Games with their branches and patches; only one game if a slug is given. Imports limit how many there are
 * (`importers/pipeline/check/archive-limits.ts`).
 */
export async function readDirectory(em: EntityManager, slug?: string): Promise<CodexGame[]> {
  // One statement reads all three lists as of one moment.
  const rows = await findRows(em, (db) => {
    const all = selectDirectory(db);
    return slug === undefined ? all : all.where("g.slug", "=", slug);
  });
  const games = new Map<number, GameRow>();
  const branches = new Map<number, BranchRow>();
  const patches: CodexPatch[] = [];
  for (const { game, displayName, generation, parentBranchId, forkPatchId, ...row } of rows) {
    games.set(row.gameId, { id: row.gameId, slug: game, displayName, generation });
    const { gameId, ...patch } = row;
    if (patch.branchId === null || patch.branch === null) continue;
    const branch = { id: patch.branchId, gameId, slug: patch.branch };
    branches.set(branch.id, { ...branch, parentId: parentBranchId, forkPatchId });
    if (isPatch(patch)) patches.push(patch);
  }
  return assembleDirectory([...games.values()], [...branches.values()], patches);
}

/** A row for each patch; also for a branch without patches and a game without branches. */
const selectDirectory = (db: Builder) =>
  db
    .selectFrom("codex_games as g")
    .leftJoin("codex_branches as b", "b.game_id", "g.id")
    .leftJoin("codex_patches as p", "p.branch_id", "b.id")
    .select([
      "g.id as gameId",
      "g.slug as game",
      "g.display_name as displayName",
      "g.generation",
      "b.id as branchId",
      "b.slug as branch",
      "b.parent_id as parentBranchId",
      "b.fork_patch_id as forkPatchId",
      "p.id",
      "p.ord",
      "p.parent_id as parentId",
      "p.version",
      "p.version_raw as versionRaw",
      nullableMillis("p.released_at").as("releasedAt"),
      nullableMillis("p.imported_at").as("importedAt"),
      "p.num_added as numAdded",
      "p.num_changed as numChanged",
      "p.num_removed as numRemoved",
      "p.revision",
    ])
    .orderBy(sql`g.slug collate "C"`)
    .orderBy(sql`b.slug collate "C"`)
    .orderBy("p.ord");

/** Outer joins give nulls where a branch has no patch. */
type OrNulls<T> = { [K in keyof T]: T[K] | null };

const isPatch = (row: OrNulls<CodexPatch>): row is CodexPatch => row.id !== null;

export function assembleDirectory(
  games: readonly GameRow[],
  branches: readonly BranchRow[],
  patches: readonly CodexPatch[],
): CodexGame[] {
  const byId = new Map(branches.map((branch) => [branch.id, branch]));
  const own = Map.groupBy(patches, (patch) => patch.branchId);
  const patchById = new Map(patches.map((patch) => [patch.id, patch]));
  const lineage = (branch: BranchRow | undefined): CodexPatch[] => {
    if (branch === undefined) return [];
    const fork = patchById.get(branch.forkPatchId ?? 0);
    const inherited =
      fork === undefined
        ? []
        : lineage(byId.get(fork.branchId)).filter((patch) => patch.ord <= fork.ord);
    return [...inherited, ...(own.get(branch.id) ?? [])];
  };
  const toBranch = (branch: BranchRow, generation: number): CodexBranch => ({
    id: branch.id,
    slug: branch.slug,
    gameId: branch.gameId,
    present: `${branch.gameId} ${generation} ${branch.slug}`,
    parent: byId.get(branch.parentId ?? 0)?.slug ?? null,
    fork: patchById.get(branch.forkPatchId ?? 0) ?? null,
    patches: lineage(branch),
  });
  return games.map((game) => ({
    ...game,
    branches: new Map(
      branches
        .filter((branch) => branch.gameId === game.id)
        .map((branch) => [branch.slug, toBranch(branch, game.generation)]),
    ),
  }));
}

/** Matches the canonical version first, then the exact raw version (COD-13). */
export function findPatch(branch: CodexBranch, version: string): CodexPatch | null {
  const { patches } = branch;
  return (
    patches.find((patch) => patch.version === version) ??
    patches.find((patch) => patch.versionRaw === version) ??
    null
  );
}

/** A range of one branch: rows with `fromOrd` in (after, upTo]. */
export interface OrdRange {
  branchId: number;
  after: number;
  upTo: number;
}

/**
 * The branch ranges that lead from `from` (null: from the start) to `to`, newest first. Both are
 * patches of one branch, and `from` is not later than `to`.
 */
export function rangesBetween(
  game: CodexGame,
  from: CodexPatch | null,
  to: CodexPatch,
): OrdRange[] {
  const byId = new Map([...game.branches.values()].map((branch) => [branch.id, branch]));
  const ranges: OrdRange[] = [];
  let [branchId, upTo] = [to.branchId, to.ord];
  for (;;) {
    const fork = byId.get(branchId)?.fork ?? null;
    if (from?.branchId === branchId || fork === null) {
      ranges.push({ branchId, after: from?.ord ?? 0, upTo });
      return ranges;
    }
    ranges.push({ branchId, after: fork.ord, upTo });
    [branchId, upTo] = [fork.branchId, fork.ord];
  }
}
