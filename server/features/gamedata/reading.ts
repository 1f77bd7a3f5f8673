import type { Archive, ArchiveBody } from "../archive/domain/archive.ts";
import type { Resource } from "../../../db/projections/resource.ts";
import { localeChain, presentRow } from "../../../db/projections/present.ts";
import { presentFacets } from "../../../db/projections/facets.ts";
import { projectedBranch } from "../../../db/projections/snapshot.ts";
import { StateReader } from "../../../db/projections/read-context.ts";
import type { EntityManager } from "@mikro-orm/postgresql";
import { countRows, listRows, type Clause } from "../../../db/queries/gamedata/projection-list.ts";
import { withinSearchTime } from "../../../db/search-time.ts";
import { findRow } from "../../../db/queries/gamedata/projection-rows.ts";
import { readFacets, type FacetRow } from "../../../db/queries/gamedata/projection-state.ts";
import { pageOf } from "../../http/pipeline/pagination.ts";
import { AppError } from "../../platform/errors.ts";
import * as codex from "../archive/places.ts";
import { invalidFilter, readClauses, type Parameters } from "./filters.ts";

/** The branch of the projection; null before the first import. */
export type ProjectedPlace = codex.Place | null;

export interface ListInput {
  limit: number;
  /** Raw values; null when absent. */
  sort: string;
  cursor: string | null;
  locale: string | undefined;
  parameters: Parameters;
}

const idPattern = (type: string) => new RegExp(`^id\\.${type}\\.[A-Za-z0-9_.-]{1,250}$`);

/** A body of the present state: its ETag changes with every import (PRJ-11). */
function presentBody({ game }: codex.Place, content: string): ArchiveBody {
  const { etag } = codex.finishedBody(content);
  return { content, etag: `"${game.generation}.${etag.slice(1)}` };
}

/** Built once for both base paths, so that both return the same bytes (PRJ-02). */
function cached(archive: Archive, key: string, make: () => Promise<ArchiveBody>) {
  return archive.bodies.fetch(key, make);
}

/** One page of a resource in the list envelope of the document. */
export async function readList(
  archive: Archive,
  place: ProjectedPlace,
  resource: Resource,
  input: ListInput,
): Promise<ArchiveBody> {
  const { limit, cursor, parameters } = input;
  const sort = input.sort === "desc" ? "desc" : "asc";
  if (sort !== input.sort) throw invalidFilter("sort", ["asc", "desc"]);
  if (cursor !== null && !idPattern(resource.type).test(cursor)) throw invalidFilter("cursor");
  const chain = localeChain(input.locale);
  if (place === null) {
    readClauses(resource, parameters, () => new Set(), chain);
    return codex.finishedBody(listBody([], { count: 0, limit, sort, next: null }));
  }
  const asked = JSON.stringify([resource.path, parameters, chain]);
  const key = codex.presentKey(place, "rows", asked, limit, sort, cursor ?? "");
  return cached(archive, key, () =>
    codex.readPresent(archive, place, async (em, current) => {
      const slugs = needsSlugs(resource, parameters) ? slugsIn(await readFacets(em)) : noSlugs;
      const clauses = readClauses(resource, parameters, slugs, chain);
      // The count does not depend on the page, so it is cached for later pages.
      const counted = await archive.bodies.fetch(
        codex.presentKey(current, "count of rows", asked),
        async () => {
          const total = await bounded(em, resource, clauses, (tx) =>
            countRows(tx, resource, clauses),
          );
          return { content: String(total), etag: "" };
        },
      );
      const count = Number(counted.content);
      const wanted = { clauses, cursor, sort, limit: limit + 1 } as const;
      const rows = await bounded(em, resource, clauses, (tx) => listRows(tx, resource, wanted));
      const { page: shown, next } = pageOf(rows, limit);
      const texts = shown.map((row) => presentRow(resource, row, chain, "listed"));
      return presentBody(current, listBody(texts, { count, limit, sort, next }));
    }),
  );
}

/** No index serves a substring search: a text whose search times out is too short. */
async function bounded<T>(
  em: EntityManager,
  { filters }: Resource,
  clauses: readonly Clause[],
  work: (em: EntityManager) => Promise<T>,
): Promise<T> {
  const search = clauses.find(({ kind }) => kind === "like");
  if (search === undefined) return work(em);
  const found = await withinSearchTime(em, work);
  const named = filters.find(({ kind, column }) => kind === "like" && column === search.column);
  if (found === null) throw invalidFilter(named?.parameter ?? search.column);
  return found;
}

interface ListFacts {
  count: number;
  limit: number;
  sort: string;
  next: string | null;
}

/** The list envelope, independent of the row's shape (PRJ-20). */
const listBody = (rows: readonly string[], facts: ListFacts): string =>
  `${JSON.stringify(facts).slice(0, -1)},"rows":[${rows.join(",")}]}`;

const noSlugs = (): ReadonlySet<string> => new Set();

const needsSlugs = ({ filters, columns }: Resource, parameters: Parameters): boolean =>
  filters.some(
    ({ parameter, column }) =>
      parameters[parameter] !== undefined && columns[column]?.known !== undefined,
  );

function slugsIn(rows: readonly FacetRow[]) {
  const byColumn = Map.groupBy(rows, ({ column }) => column);
  return (column: string) => new Set((byColumn.get(column) ?? []).map(({ slug }) => slug));
}

/** One full row, now or at a patch (PRJ-03, PRJ-04). */
export async function readDocument(
  archive: Archive,
  place: ProjectedPlace,
  resource: Resource,
  input: { id: string; version: string | undefined; locale: string | undefined },
): Promise<ArchiveBody> {
  const { id, version } = input;
  if (!idPattern(resource.type).test(id)) throw new AppError("projection:type_mismatch");
  const chain = localeChain(input.locale);
  if (place === null)
    throw new AppError(version === undefined ? "projection:not_found" : "codex:patch_not_found");
  if (version === undefined) {
    const key = codex.presentKey(place, "row", id, ...chain);
    return cached(archive, key, () =>
      codex.readPresent(archive, place, async (em, current) => {
        const row = await findRow(em, resource, id);
        if (row === null) throw new AppError("projection:not_found");
        return presentBody(current, presentRow(resource, row, chain, "single"));
      }),
    );
  }
  const patch = codex.patchOf(place.branch, version);
  // The upstream key is the present one, whatever the patch.
  const state = [codex.stateKey(patch), place.game.generation];
  const key = JSON.stringify(["row at", ...state, id, ...chain]);
  return cached(archive, key, () =>
    codex.readPresent(archive, place, async (em) => {
      const state = { branchId: patch.branchId, ord: patch.ord };
      const reader = new StateReader(em, place.game.id, state, chain);
      const [projected] = await reader.project(resource, [id]);
      if (projected === undefined) throw new AppError("projection:not_found");
      return codex.finishedBody(presentRow(resource, projected.row, chain, "single"));
    }),
  );
}

/** The labels of every slug in use (PRJ-10). */
export async function readLabels(
  archive: Archive,
  place: ProjectedPlace,
  locale: string | undefined,
): Promise<ArchiveBody> {
  const chain = localeChain(locale);
  if (place === null) return codex.finishedBody(JSON.stringify(presentFacets([], chain)));
  return cached(archive, codex.presentKey(place, "facets", ...chain), () =>
    codex.readPresent(archive, place, async (em, current) =>
      presentBody(current, JSON.stringify(presentFacets(await readFacets(em), chain))),
    ),
  );
}

/** The projected game and branch; null before the first import. */
export async function findProjectedPlace(archive: Archive, game: string): Promise<ProjectedPlace> {
  const found = (await archive.games()).get(game);
  const branch = found?.branches.get(projectedBranch);
  return found === undefined || branch === undefined ? null : { game: found, branch };
}
