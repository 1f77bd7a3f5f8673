import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import type { RowRecord } from "./projection-rows.ts";
import { rowsOf } from "./rows.ts";

export type BuildStatus = "preview" | "applied" | "reverted";

export interface Build {
  id: number;
  gameId: number;
  status: BuildStatus;
  projectorVersion: number;
  /** Generation it was worked out from; once applied or taken back, the one that made. */
  generation: number;
  numAdded: number;
  numChanged: number;
  numRemoved: number;
}

/** One row of a build, whole; `before` is null when it is added, `after` when it is removed. */
export interface Change {
  resource: string;
  rowId: string;
  before: RowRecord | null;
  after: RowRecord | null;
}

/** Builds that are kept; older ones can no longer be taken back or looked at. */
const maxBuilds = 5;

const columns = sql`id, game_id as "gameId", status, projector_version as "projectorVersion",
  generation, num_added as "numAdded", num_changed as "numChanged", num_removed as "numRemoved"`;

/** A new preview; the oldest builds make room. */
export async function insertBuild(
  em: EntityManager,
  build: Pick<Build, "gameId" | "projectorVersion" | "generation">,
): Promise<Build> {
  const [row] = await rowsOf(
    em,
    sql<Build>`insert into projection_builds (game_id, status, projector_version, generation,
        num_added, num_changed, num_removed, created_at)
      values (${build.gameId}, 'preview', ${build.projectorVersion}, ${build.generation}, 0, 0, 0,
        now())
      returning ${columns}`,
  );
  if (row === undefined) throw new Error("the build was not written");
  const old = sql`select id from projection_builds order by id desc offset ${maxBuilds}`;
  await rowsOf(em, sql`delete from projection_changes where build_id in (${old})`);
  await rowsOf(em, sql`delete from projection_builds where id in (${old})`);
  return row;
}

export async function insertChanges(
  em: EntityManager,
  buildId: number,
  changes: readonly Change[],
): Promise<void> {
  if (changes.length === 0) return;
  await rowsOf(
    em,
    sql`insert into projection_changes (build_id, row_id, resource, before, after)
      select ${buildId}::int, "rowId", resource, before, after
      from json_to_recordset(${JSON.stringify(changes)}::json)
        as x("rowId" text, resource text, before json, after json)`,
  );
}

/** Counts the changes of a build into its row. */
export async function countChanges(em: EntityManager, buildId: number): Promise<Build> {
  const [row] = await rowsOf(
    em,
    sql<Build>`update projection_builds b set num_added = c.added, num_changed = c.changed,
        num_removed = c.removed
      from (select count(*) filter (where before is null) as added,
          count(*) filter (where before is not null and after is not null) as changed,
          count(*) filter (where after is null) as removed
        from projection_changes where build_id = ${buildId}) c
      where b.id = ${buildId} returning ${columns}`,
  );
  if (row === undefined) throw new Error("the build is gone");
  return row;
}

export async function findBuild(em: EntityManager, id: number): Promise<Build | null> {
  const [row] = await rowsOf(
    em,
    sql<Build>`select ${columns} from projection_builds where id = ${id}`,
  );
  return row ?? null;
}

/** Newest first. */
export async function listBuilds(em: EntityManager): Promise<Build[]> {
  return rowsOf(em, sql<Build>`select ${columns} from projection_builds order by id desc`);
}

/** Changes of a build in order of id, beginning after `after`. */
export async function listChanges(
  em: EntityManager,
  buildId: number,
  page: { after: string; limit: number },
): Promise<Change[]> {
  return rowsOf(
    em,
    sql<Change>`select resource, row_id as "rowId", before, after from projection_changes
      where build_id = ${buildId} and row_id > ${page.after} order by row_id limit ${page.limit}`,
  );
}

export async function closeBuild(
  em: EntityManager,
  id: number,
  end: { status: Exclude<BuildStatus, "preview">; generation: number },
): Promise<void> {
  const at = end.status === "applied" ? sql`applied_at` : sql`reverted_at`;
  await rowsOf(
    em,
    sql`update projection_builds set status = ${end.status}, generation = ${end.generation},
      ${at} = now() where id = ${id}`,
  );
}
