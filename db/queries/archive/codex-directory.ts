import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { rowsOf } from "../rows.ts";

/** `toOrd` of a row that belongs to the current state. */
export const openOrd = 2_147_483_647;

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

interface BranchRow {
  id: number;
  gameId: number;
  slug: string;
  parentId: number | null;
  forkPatchId: number | null;
}

type GameRow = Omit<CodexGame, "branches">;

/** Games with their branches and patches; only one game if a slug is given. */
export async function readDirectory(em: EntityManager, slug?: string): Promise<CodexGame[]> {
  const only = slug === undefined ? sql`true` : sql`g.slug = ${slug}`;
  // One statement reads the three lists as of one moment. Raw SQL: three lists, each as one JSON
  // value.
  const [row] = await rowsOf(
    em,
    sql<{ games: GameRow[] | null; branches: BranchRow[] | null; patches: CodexPatch[] | null }>`
      with g as (select * from codex_games g where ${only}),
      b as (select b.* from codex_branches b join g on g.id = b.game_id)
      select
        (select json_agg(json_build_object('id', id, 'slug', slug, 'displayName', display_name,
          'generation', generation) order by slug collate "C") from g) as games,
        (select json_agg(json_build_object('id', id, 'gameId', game_id, 'slug', slug,
          'parentId', parent_id, 'forkPatchId', fork_patch_id) order by slug collate "C")
          from b) as branches,
        (select json_agg(json_build_object('id', p.id, 'branchId', p.branch_id, 'branch', b.slug,
          'ord', p.ord, 'parentId', p.parent_id, 'version', p.version, 'versionRaw', p.version_raw,
          'releasedAt', (extract(epoch from p.released_at) * 1000)::bigint,
          'importedAt', (extract(epoch from p.imported_at) * 1000)::bigint,
          'numAdded', p.num_added, 'numChanged', p.num_changed, 'numRemoved', p.num_removed,
          'revision', p.revision) order by p.ord)
          from codex_patches p join b on b.id = p.branch_id) as patches`,
  );
  return assemble(row?.games ?? [], row?.branches ?? [], row?.patches ?? []);
}

function assemble(
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
