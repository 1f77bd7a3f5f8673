import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import type { BuildStatus } from "../../entities/projection-build.ts";
import type { RowRecord } from "./projection-rows.ts";
import { changeRows, findRow, findRows, rowsOf, type Builder } from "../rows.ts";

export type { BuildStatus };

export interface Build {
  id: number;
  gameId: number;
  status: BuildStatus;
  projectorVersion: number;
  /** Generation the build was computed from; once applied or rolled back, the generation that created. */
  generation: number;
  numAdded: number;
  numChanged: number;
  numRemoved: number;
}

/** One row of a build with all columns; `before` is null for an added row, `after` for a removed one. */
export interface Change {
  resource: string;
  rowId: string;
  before: RowRecord | null;
  after: RowRecord | null;
}

/** Number of stored builds; older ones can no longer be viewed or rolled back. */
const maxBuilds = 5;

const columns = [
  "id",
  "game_id as gameId",
  "status",
  "projector_version as projectorVersion",
  "generation",
  "num_added as numAdded",
  "num_changed as numChanged",
  "num_removed as numRemoved",
] as const;

/** Inserts a preview and deletes the oldest builds beyond the bound. */
export async function insertBuild(
  em: EntityManager,
  build: Pick<Build, "gameId" | "projectorVersion" | "generation">,
): Promise<Build> {
  const row = await findRow(em, (db) =>
    db
      .insertInto("projection_builds")
      .values({
        game_id: build.gameId,
        status: "preview",
        projector_version: build.projectorVersion,
        generation: build.generation,
        num_added: 0,
        num_changed: 0,
        num_removed: 0,
        created_at: sql<Date>`now()`,
      })
      .returning(columns),
  );
  if (row === null) throw new Error("the build was not written");
  const old = (db: Builder) =>
    db.selectFrom("projection_builds").select("id").orderBy("id", "desc").offset(maxBuilds);
  await changeRows(em, (db) =>
    db.deleteFrom("projection_changes").where("build_id", "in", old(db)),
  );
  await changeRows(em, (db) => db.deleteFrom("projection_builds").where("id", "in", old(db)));
  return row;
}

export async function insertChanges(
  em: EntityManager,
  buildId: number,
  changes: readonly Change[],
): Promise<void> {
  if (changes.length === 0) return;
  // Raw SQL: rows from one JSON value.
  await rowsOf(
    em,
    sql`insert into projection_changes (build_id, row_id, resource, before, after)
      select ${buildId}::int, "rowId", resource, before, after
      from json_to_recordset(${JSON.stringify(changes)}::json)
        as x("rowId" text, resource text, before json, after json)`,
  );
}

/** Stores the number of added, changed and removed rows in the build. */
export async function countChanges(em: EntityManager, buildId: number): Promise<Build> {
  const row = await findRow(em, (db) =>
    db
      .updateTable("projection_builds as b")
      .from((of) =>
        of
          .selectFrom("projection_changes")
          .select([
            sql<number>`count(*) filter (where before is null)`.as("added"),
            sql<number>`count(*) filter (where before is not null and after is not null)`.as(
              "changed",
            ),
            sql<number>`count(*) filter (where after is null)`.as("removed"),
          ])
          .where("build_id", "=", buildId)
          .as("c"),
      )
      .set((eb) => ({
        num_added: eb.ref("c.added"),
        num_changed: eb.ref("c.changed"),
        num_removed: eb.ref("c.removed"),
      }))
      .where("b.id", "=", buildId)
      .returning(columns),
  );
  if (row === null) throw new Error("the build is gone");
  return row;
}

export function findBuild(em: EntityManager, id: number): Promise<Build | null> {
  return findRow(em, (db) =>
    db.selectFrom("projection_builds").select(columns).where("id", "=", id),
  );
}

/** Newest first. */
export function listBuilds(em: EntityManager): Promise<Build[]> {
  return findRows(em, (db) =>
    db.selectFrom("projection_builds").select(columns).orderBy("id", "desc"),
  );
}

/** Changes of a build ordered by id, after `after`. */
export async function listChanges(
  em: EntityManager,
  buildId: number,
  page: { after: string; limit: number },
): Promise<Change[]> {
  // Raw SQL: the pool parses JSON that the entity declares as text.
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
  const { status, generation } = end;
  const now = sql<Date>`now()`;
  await changeRows(em, (db) =>
    db
      .updateTable("projection_builds")
      .set({
        status,
        generation,
        ...(status === "applied" ? { applied_at: now } : { reverted_at: now }),
      })
      .where("id", "=", id),
  );
}
