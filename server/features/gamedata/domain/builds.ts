import type { EntityManager } from "@mikro-orm/postgresql";
import {
  findBuild,
  listBuilds,
  type Build as StoredBuild,
} from "../../../../db/queries/gamedata/projection-builds.ts";

export type Build = StoredBuild;

/** A build of the typed game data, or the ids of those that are kept. */
export async function buildOf(
  em: EntityManager,
  id: number,
): Promise<{ build: Build } | { build: null; kept: number[] }> {
  const build = await findBuild(em, id);
  if (build !== null) return { build };
  return { build, kept: (await listBuilds(em)).map((one) => one.id) };
}
