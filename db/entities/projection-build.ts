import { defineEntity, p } from "@mikro-orm/postgresql";

export type BuildStatus = "preview" | "applied" | "reverted";

/** A rebuild of the projection apart from imports: previewed, applied, taken back. */
export const ProjectionBuildSchema = defineEntity({
  name: "ProjectionBuild",
  tableName: "projection_builds",
  properties: {
    id: p.integer().primary(),
    gameId: p.integer(),
    /** `preview`, `applied`, `reverted` */
    status: p.string().$type<BuildStatus>().length(16),
    projectorVersion: p.integer(),
    /** Generation of the game it was worked out from; once applied, the one it made. */
    generation: p.integer(),
    numAdded: p.integer(),
    numChanged: p.integer(),
    numRemoved: p.integer(),
    createdAt: p.datetime(),
    appliedAt: p.datetime().nullable(),
    revertedAt: p.datetime().nullable(),
  },
});

/** One row that a rebuild adds, changes or removes, whole before and after. */
export const ProjectionChangeSchema = defineEntity({
  name: "ProjectionChange",
  tableName: "projection_changes",
  properties: {
    buildId: p.integer().primary(),
    rowId: p.text().collation("C").primary(),
    resource: p.string().length(64),
    /** Records of the table as JSON; null for a row that is added, or removed. */
    before: p.text().columnType("json").nullable(),
    after: p.text().columnType("json").nullable(),
  },
});
