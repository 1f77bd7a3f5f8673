import type { EntityManager } from "@mikro-orm/postgresql";
import type { Archive, ArchiveBody } from "./domain/archive.ts";
import type { ListFilter } from "../../../db/queries/archive/codex-filters.ts";
import {
  listEntities,
  readEntities,
  searchEntities,
  type ListPage,
  type TypeRef,
} from "../../../db/queries/archive/codex-list.ts";
import type { EntityRow } from "../../../db/queries/archive/codex-read.ts";
import { withinSearchTime } from "../../../db/search-time.ts";
import { AppError } from "../../platform/errors.ts";
import { queryWords } from "../../platform/text/search-words.ts";
import { assertPresent, finishedBody, presentKey, readAtOnce, type Place } from "./places.ts";
import { entityText } from "./present.ts";

/** Maximum characters of entities in a page: a page of large entities ends early, and `next` continues. */
const maxPageLength = 8 * 1024 * 1024;

/** Maximum wait for the document filter; a longer one would exceed the request deadline. */
const maxWaitMs = 5_000;

/** Criteria of a list; an empty `q` does not search. */
export interface ListInput {
  type: string;
  filters: readonly ListFilter[];
  q: string;
  limit: number;
  cursor: number;
}

/** One page of the present entities of a type, with the total count (COD-03). */
export function readList(archive: Archive, place: Place, input: ListInput): Promise<ArchiveBody> {
  const { limit } = input;
  return readAtOnce(archive, place, async (em, current) => {
    const { game, branch } = current;
    const find = input.q === "" ? listedPage : searchedPage;
    const { rows, count } = await find(archive, em, current, input);
    const texts = rows.slice(0, limit).map((row) => entityText(row, game.slug, branch.slug));
    const entities = texts.slice(0, numFitting(texts));
    const next = rows.length > entities.length ? (rows[entities.length - 1]?.id ?? null) : null;
    return finishedBody(
      `{"entities":[${entities.join(",")}],"count":${count},"limit":${limit},"next":${next}}`,
    );
  });
}

/** A page with one extra row, if there is one. */
interface Found {
  rows: EntityRow[];
  count: number;
}

async function listedPage(
  archive: Archive,
  em: EntityManager,
  place: Place,
  { type, filters, cursor, limit }: ListInput,
): Promise<Found> {
  const read = async (isCounted: boolean) => {
    const found = await withFilterLimit(archive, filters, () =>
      listEntities(em, typeRef(place, type), { filters, cursor, limit: limit + 1, isCounted }),
    );
    assertPresent(place, found.generation);
    return found;
  };
  let found: ListPage | null = null;
  // The count does not depend on the page, so it is cached for later pages: of 20,000 entities they take 1.5 ms, with
  // the count 8 (`npm run bench -- micro archive`, "later pages").
  const counted = await archive.bodies.fetch(
    presentKey(place, "count", type, JSON.stringify(filters)),
    async () => {
      found = await read(true);
      return { content: String(found.count), etag: "" };
    },
  );
  const { rows } = found ?? (await read(false));
  return { rows, count: Number(counted.content) };
}

async function searchedPage(
  archive: Archive,
  em: EntityManager,
  place: Place,
  input: ListInput,
): Promise<Found> {
  const { type, filters, q, cursor, limit } = input;
  const key = presentKey(place, type, q, JSON.stringify(filters));
  const ids = await archive.lists.fetch(key, () => searchIds(archive, em, place, input));
  const start = placeAfter(ids, cursor);
  const page = [...ids.subarray(start, start + limit + 1)];
  if (page.length === 0) return { rows: [], count: ids.length };
  const { generation, rows } = await readEntities(em, typeRef(place, type), page);
  assertPresent(place, generation);
  return { rows, count: ids.length };
}

/** Numbers of the entities that match all filters and words. */
async function searchIds(
  archive: Archive,
  em: EntityManager,
  place: Place,
  { type, filters, q }: ListInput,
): Promise<Int32Array> {
  const words = queryWords(q);
  if (words.length === 0) return new Int32Array();
  const ref = typeRef(place, type);
  const found = await withFilterLimit(archive, filters, () =>
    withinSearchTime(em, (tx) => searchEntities(tx, ref, words, filters)),
  );
  // The text matches too many rows, so it is too short.
  if (found === null) throw new AppError("request:invalid_query", { params: { parameter: "q" } });
  assertPresent(place, found.generation);
  return found.ids;
}

/** Filters read every document of a type; lists without filters do not wait for them. */
function withFilterLimit<T>(
  archive: Archive,
  filters: readonly ListFilter[],
  read: () => Promise<T>,
): Promise<T> {
  if (filters.length === 0) return read();
  const latest = performance.now() + maxWaitMs;
  return archive.scans.run(() => {
    if (performance.now() > latest) throw new AppError("server:unavailable");
    return read();
  });
}

const typeRef = ({ game, branch }: Place, type: string): TypeRef => ({
  gameId: game.id,
  branchId: branch.id,
  type,
});

/** Number of texts that fit in a page: at least one. */
function numFitting(texts: readonly string[]): number {
  let length = 0;
  const end = texts.findIndex((text) => (length += text.length) > maxPageLength);
  return end === -1 ? texts.length : Math.max(1, end);
}

/** Index of the first larger number in an ascending list (upper bound). */
function placeAfter(ids: Int32Array, cursor: number): number {
  let [low, high] = [0, ids.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ids[middle] ?? 0) > cursor) high = middle;
    else low = middle + 1;
  }
  return low;
}
