import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import type { CodexPatch } from "./codex-directory.ts";
import { readState, type KeptEntity } from "./codex-import.ts";
import { rowsOf } from "./rows.ts";

/** Characters of facts that are written down: a game with more is gathered anew by each import. */
const maxFactsLength = 64 * 1024 * 1024;

/** What an import compares of an entity. */
export interface EntityIdentity {
  key: string;
  upstreamKey: string;
  hash: string;
}

export interface KnownState {
  /** By id. */
  entities: ReadonlyMap<string, KeptEntity>;
  /** Those that would be made again of a text with this digest. */
  byDigest: ReadonlyMap<string, EntityIdentity>;
}

/** The state at a patch; `context` is what an import would make entities from, beside their texts. */
export async function readKnown(
  em: EntityManager,
  patch: CodexPatch | null,
  context: string,
): Promise<KnownState> {
  if (patch === null) return { entities: new Map(), byDigest: new Map() };
  const [row] = await rowsOf(
    em,
    sql<{ context: string; entities: string }>`
      select context, entities from codex_sources where branch_id = ${patch.branchId}
        and patch_id = ${patch.id} and revision = ${patch.revision}`,
  );
  if (row === undefined) return { entities: await readState(em, patch), byDigest: new Map() };
  const facts = JSON.parse(row.entities) as string[];
  const entities = new Map<string, EntityIdentity>();
  const byDigest = new Map<string, EntityIdentity>();
  for (let at = 0; at < facts.length; at += 4) {
    const key = facts[at] ?? "";
    const entity = { key, upstreamKey: facts[at + 1] ?? "", hash: facts[at + 2] ?? "" };
    const digest = facts[at + 3] ?? "";
    entities.set(key, entity);
    if (digest !== "" && row.context === context) byDigest.set(digest, entity);
  }
  return { entities, byDigest };
}

/**
 * Writes down what a patch that was just written has, so that the next import need not gather it: of each
 * entity its id, upstream key, hash and the digest of its text, which may be empty. Nothing for a patch that
 * the branch only has from its parent.
 */
export async function saveKnown(
  em: EntityManager,
  { branchId, patchId }: { branchId: number; patchId: number },
  { context, facts }: { context: string; facts: readonly string[] },
): Promise<void> {
  const length = facts.reduce((sum, fact) => sum + fact.length, 0);
  if (length > maxFactsLength) return;
  await rowsOf(
    em,
    sql`insert into codex_sources (branch_id, patch_id, revision, context, entities)
      select branch_id, id, revision, ${context}, ${JSON.stringify(facts)} from codex_patches
      where id = ${patchId} and branch_id = ${branchId}
      on conflict (branch_id) do update set patch_id = excluded.patch_id,
        revision = excluded.revision, context = excluded.context, entities = excluded.entities`,
  );
}

/** To be called when an import changed upstream keys, which the branches of a game share. */
export async function forgetKnown(em: EntityManager, gameId: number): Promise<void> {
  await rowsOf(
    em,
    sql`delete from codex_sources s using codex_branches b
      where b.id = s.branch_id and b.game_id = ${gameId}`,
  );
}
