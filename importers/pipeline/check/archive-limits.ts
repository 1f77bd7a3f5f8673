import type { EntityManager } from "@mikro-orm/postgresql";
import type { CodexGame } from "../../../db/queries/archive/codex-directory.ts";
import { countGames } from "../../../db/queries/archive/codex-import.ts";
import type { ProblemList } from "../../envelope/problem-list.ts";
import type { PatchPosition } from "./patch-position.ts";

/** Every process holds all games, branches and patches in memory and reads them again after each import. */
export const maxGames = 1_000;
/** Of one game. */
export const maxBranches = 200;
/** Of one game, over all branches. */
export const maxPatches = 10_000;

/** Refuses a game, branch or patch that would be one too many. */
export async function checkLimits(
  em: EntityManager,
  { game, branch, existing }: Pick<PatchPosition, "game" | "branch" | "existing">,
  problems: ProblemList,
): Promise<void> {
  if (game === null && (await countGames(em)) >= maxGames)
    problems.add("game", "", `is one more than ${maxGames} games`);
  if (branch === null && (game?.branches.size ?? 0) >= maxBranches)
    problems.add("branch", "", `is one more than ${maxBranches} of the game`);
  if (existing === null && countPatches(game) >= maxPatches)
    problems.add("patch", "", `is one more than ${maxPatches} of the game`);
}

function countPatches(game: CodexGame | null): number {
  let count = 0;
  for (const branch of game?.branches.values() ?? [])
    for (const patch of branch.patches) if (patch.branchId === branch.id) count++;
  return count;
}
