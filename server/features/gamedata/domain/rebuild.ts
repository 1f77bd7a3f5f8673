import type { EntityManager } from "@mikro-orm/postgresql";
import { applyRebuild, previewRebuild, undoRebuild } from "../../../../db/projections/rebuild.ts";
import { publish } from "../../../../db/queries/archive/codex-lease.ts";
import type { PayloadOf, projectionRebuild } from "../../../../workers/queues.ts";
import type { Build } from "./builds.ts";

export type RebuildRequest = Omit<PayloadOf<typeof projectionRebuild>, "stamp">;

const actions: Readonly<
  Record<RebuildRequest["action"], (em: EntityManager, request: RebuildRequest) => Promise<Build>>
> = {
  preview: (em, { game }) => previewRebuild(em, game),
  apply: (em, { game, build }) => applyRebuild(em, game, build),
  back: (em, { game }) => undoRebuild(em, game),
};

/**
 * Previews, applies or rolls back a rebuild. Call it in a transaction that commits soon afterwards: from the commit on
 * every process answers with the new rows (COD-22). Throws `RebuildRefused`.
 */
export async function rebuild(em: EntityManager, request: RebuildRequest): Promise<Build> {
  const build = await actions[request.action](em, request);
  if (request.action !== "preview") await publish(em);
  return build;
}
