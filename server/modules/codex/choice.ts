import type { EntityManager } from "@mikro-orm/postgresql";
import type { Archive } from "../../../db/archive.ts";
import { readColumn, type Column, type ColumnPlace } from "../../../db/queries/codex-columns.ts";
import { searchEntities, type TypeRef } from "../../../db/queries/codex-list.ts";
import { withinSearchTime } from "../../../db/search-time.ts";
import { AppError } from "../../core/errors.ts";
import { queryWords } from "../../core/search-words.ts";
import { fittingIds, type ListFilter } from "./fitting.ts";
import { assertPresent, presentKey, type Place } from "./places.ts";

/** A column that waited longer could not be read in the time a request has. */
const maxWaitMs = 5_000;

/** What a list asks of its entities; an empty `q` searches nothing. */
export interface Choice {
  type: string;
  filters: readonly ListFilter[];
  q: string;
}

/** Numbers of the entities that fit all filters and have all words. */
export async function chooseIds(
  archive: Archive,
  em: EntityManager,
  place: Place,
  { type, filters, q }: Choice,
): Promise<Int32Array> {
  const columns: Column[] = [];
  for (const { field, path } of filters)
    columns.push(await columnOf(archive, em, place, type, { field, path }));
  const fitting = columns.length === 0 ? null : await fittingIds(filters, columns);
  if (q === "") return fitting ?? new Int32Array();
  const words = queryWords(q);
  if (words.length === 0) return new Int32Array();
  const ref = typeRef(place, type);
  const found = await withinSearchTime(em, (tx) => searchEntities(tx, ref, words));
  // It matches too much, so it is too short.
  if (found === null) throw new AppError("request:invalid_query", { params: { parameter: "q" } });
  assertPresent(place, found.generation);
  if (fitting === null) return found.ids;
  const all = new Set(found.ids);
  return fitting.filter((id) => all.has(id));
}

function columnOf(
  archive: Archive,
  em: EntityManager,
  place: Place,
  type: string,
  where: ColumnPlace,
): Column | Promise<Column> {
  return archive.columns.use(
    presentKey(place, type, where.field, where.path.join(".")),
    () => {
      const latest = performance.now() + maxWaitMs;
      return archive.scans.pass(() => {
        if (performance.now() > latest) throw new AppError("server:unavailable");
        return readColumn(em, typeRef(place, type), where, (generation) =>
          assertPresent(place, generation),
        );
      });
    },
    (column) => column,
  );
}

export const typeRef = ({ game, branch }: Place, type: string): TypeRef => ({
  gameId: game.id,
  branchId: branch.id,
  type,
});
