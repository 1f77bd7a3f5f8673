import { noOrigin } from "../../server/platform/origin.ts";
import { UnrecoverableError } from "bullmq";
import { readDirectory } from "../../db/queries/archive/codex-directory.ts";
import { readProjectionState } from "../../db/queries/gamedata/projection-state.ts";
import { projectorVersion } from "../../db/projections/project.ts";
import { RebuildRefused } from "../../db/projections/rebuild.ts";
import type { Build } from "../../server/features/gamedata/domain/builds.ts";
import { rebuild, type RebuildRequest } from "../../server/features/gamedata/domain/rebuild.ts";
import type { WithClock, WithConfig, WithEm, WithLog } from "../../server/platform/capabilities.ts";
import { projectionRebuild, type WithEnqueue } from "../queues.ts";

/**
 * Previews, applies or rolls back a rebuild in one transaction: clients see the rows either before or after
 * it. Refusals are final, except when another import or rebuild holds the game's lock.
 */
export async function rebuildProjection(
  request: RebuildRequest,
  deps: WithEm & WithLog,
): Promise<Build> {
  try {
    const build = await deps.em.transactional((em) => rebuild(em, request));
    deps.log.info(
      { event: "projection_rebuilt", build, action: request.action },
      "projection rebuilt",
    );
    return build;
  } catch (error) {
    if (error instanceof RebuildRefused && error.code !== "projection:busy")
      throw new UnrecoverableError(error.code);
    throw error;
  }
}

export interface ReconcileDeps extends WithEm, WithConfig, WithClock, WithEnqueue {}

/** Queues a rebuild if the rows are from another projector version or another game, or miss an import. */
export async function reconcileProjection({
  em,
  config,
  clock,
  enqueue,
}: ReconcileDeps): Promise<void> {
  const game = config.GAME_DATA_GAME;
  const [known] = await readDirectory(em, game);
  if (known === undefined) return;
  const state = await readProjectionState(em);
  const isSame = state?.projectorVersion === projectorVersion && state.gameId === known.id;
  if (isSame && state.generation >= known.generation) return;
  const job = { game, action: "apply", build: null, stamp: clock.now() } as const;
  await enqueue(projectionRebuild, job, noOrigin);
}
