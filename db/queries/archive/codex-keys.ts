import { sql } from "kysely";

/** What upstream calls entity `e` on a branch now, or called it last. */
export const upstreamKeyOn = (branchId: number) =>
  sql<string | null>`coalesce((select n.upstream_key from codex_branch_keys n
    where n.branch_id = ${branchId} and n.entity_id = e.id), e.upstream_key)`;
