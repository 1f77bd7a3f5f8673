import type { EntityManager } from "@mikro-orm/postgresql";
import { listUpstreamIds } from "../../db/queries/archive/codex-read.ts";
import { ImportRefused } from "../envelope/contract.ts";

/** Current and former upstream keys that an adapter may hold in memory. */
export const maxKnownIds = 2_000_000;

/** Entity ids of a game by upstream key in lower case, for adapters. Throws ImportRefused beyond `limit`. */
export async function readKnownIds(
  em: EntityManager,
  game: string,
  limit = maxKnownIds,
): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  for await (const { name, key } of listUpstreamIds(em, game)) {
    if (ids.size === limit) {
      const problem = `${game} has more than ${limit} upstream keys; import envelope files instead`;
      throw new ImportRefused([{ entity: "game", place: "", problem }]);
    }
    ids.set(name, key);
  }
  return ids;
}
