import { UnrecoverableError } from "bullmq";
import type { EntityManager } from "@mikro-orm/postgresql";
import { readDirectory } from "../../db/queries/archive/codex-directory.ts";
import type { Build } from "../../db/queries/gamedata/projection-builds.ts";
import { readProjectionState } from "../../db/queries/gamedata/projection-state.ts";
import { projectorVersion } from "../../db/projections/project.ts";
import {
  applyRebuild,
  previewRebuild,
  RebuildRefused,
  undoRebuild,
} from "../../db/projections/rebuild.ts";
import type { WithClock, WithConfig, WithEm, WithLog } from "../../server/platform/capabilities.ts";
import { projectionRebuild, type PayloadOf, type WithEnqueue } from "../queues.ts";

type RebuildRequest = PayloadOf<typeof projectionRebuild>;

const actions: Readonly<
  Record<RebuildRequest["action"], (em: EntityManager, request: RebuildRequest) => Promise<Build>>
> = {
  preview: (em, { game }) => previewRebuild(em, game),
  apply: (em, { game, build }) => applyRebuild(em, game, build),
  back: (em, { game }) => undoRebuild(em, game),
};

/**
 * Previews, applies or takes back a rebuild in one transaction: readers see the rows of before or of after.
 * What is refused is refused for good, unless somebody else holds the game.
 */
export async function rebuildProjection(
  request: RebuildRequest,
  deps: WithEm & WithLog,
): Promise<Build> {
  try {
    const build = await deps.em.transactional((em) => actions[request.action](em, request));
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

/**
 * Asks for a rebuild when the rows are of another projector than this one, of another game, or older than an
 * import that did not know of them.
 */
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
  await enqueue(projectionRebuild, { game, action: "apply", build: null, stamp: clock.now() });
}
