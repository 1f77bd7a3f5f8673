import { sql } from "kysely";

/** Upstream key of entity `e` on a branch: the current one, or the last it had. */
export const upstreamKeyOn = (branchId: number) =>
  sql<string | null>`coalesce((select n.upstream_key from codex_branch_keys n
    where n.branch_id = ${branchId} and n.entity_id = e.id), e.upstream_key)`;
