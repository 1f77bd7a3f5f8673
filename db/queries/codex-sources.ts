import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import type { CodexPatch } from "./codex-directory.ts";
import { rowsOf } from "./rows.ts";

/** Digest of a text -> id of the entity that a patch made of it in the same context. */
export async function readDigests(
  em: EntityManager,
  patch: CodexPatch | null,
  context: string,
): Promise<Map<string, string>> {
  if (patch === null) return new Map();
  const [row] = await rowsOf(
    em,
    sql<{ digests: string }>`
      select digests from codex_sources where branch_id = ${patch.branchId}
        and patch_id = ${patch.id} and revision = ${patch.revision} and context = ${context}`,
  );
  const digests = JSON.parse(row?.digests ?? "[]") as string[];
  const known = new Map<string, string>();
  for (let at = 1; at < digests.length; at += 2)
    known.set(digests[at] ?? "", digests[at - 1] ?? "");
  return known;
}

/** What the newest patch of a branch was made from; nothing for one that is still only its parent's. */
export async function saveDigests(
  em: EntityManager,
  { branchId, patchId }: { branchId: number; patchId: number },
  { context, digests }: { context: string; digests: readonly string[] },
): Promise<void> {
  await rowsOf(
    em,
    sql`insert into codex_sources (branch_id, patch_id, revision, context, digests)
      select branch_id, id, revision, ${context}, ${JSON.stringify(digests)} from codex_patches
      where id = ${patchId} and branch_id = ${branchId}
      on conflict (branch_id) do update set patch_id = excluded.patch_id,
        revision = excluded.revision, context = excluded.context, digests = excluded.digests`,
  );
}

/** To be called when something changed that the branches of a game share and digests say nothing of. */
export async function forgetDigests(em: EntityManager, gameId: number): Promise<void> {
  await rowsOf(
    em,
    sql`delete from codex_sources s using codex_branches b
      where b.id = s.branch_id and b.game_id = ${gameId}`,
  );
}
