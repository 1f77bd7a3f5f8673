import type { EntityManager } from "@mikro-orm/postgresql";
import type { Archive, ArchiveBody } from "../../../db/archive.ts";
import { listEntities, readEntities, type ListPage } from "../../../db/queries/codex-list.ts";
import type { EntityRow } from "../../../db/queries/codex-read.ts";
import { chooseIds, typeRef, type Choice } from "./choice.ts";
import { assertPresent, finishedBody, presentKey, readAtOnce, type Place } from "./places.ts";
import { entityText } from "./present.ts";

/** Characters of entities in one page: one that has large ones ends early, and `next` leads on. */
const maxPageLength = 8 * 1024 * 1024;

export interface ListInput extends Choice {
  limit: number;
  cursor: number;
}

/** One page of the present entities of a type, with how many there are in all (COD-03). */
export function readList(archive: Archive, place: Place, input: ListInput): Promise<ArchiveBody> {
  const { limit } = input;
  return readAtOnce(archive, place, async (em, current) => {
    const { game, branch } = current;
    const isPlain = input.filters.length === 0 && input.q === "";
    const { rows, count } = await (isPlain ? wholeList : chosenList)(archive, em, current, input);
    const texts = rows.slice(0, limit).map((row) => entityText(row, game.slug, branch.slug));
    const entities = texts.slice(0, numFitting(texts));
    const next = rows.length > entities.length ? (rows[entities.length - 1]?.id ?? null) : null;
    return finishedBody(
      `{"entities":[${entities.join(",")}],"count":${count},"limit":${limit},"next":${next}}`,
    );
  });
}

/** A page with one row more than asked for, if there is one. */
interface Found {
  rows: EntityRow[];
  count: number;
}

async function wholeList(
  archive: Archive,
  em: EntityManager,
  place: Place,
  { type, cursor, limit }: ListInput,
): Promise<Found> {
  const read = async (isCounted: boolean) => {
    const found = await listEntities(em, typeRef(place, type), {
      cursor,
      limit: limit + 1,
      isCounted,
    });
    assertPresent(place, found.generation);
    return found;
  };
  let found: ListPage | null = null;
  // The count does not depend on the page, so it is kept for the pages that follow.
  const count = await archive.bodies.use(
    presentKey(place, "count", type),
    async () => {
      found = await read(true);
      return { content: String(found.count), etag: "" };
    },
    ({ content }) => Number(content),
  );
  const { rows } = found ?? (await read(false));
  return { rows, count };
}

async function chosenList(
  archive: Archive,
  em: EntityManager,
  place: Place,
  input: ListInput,
): Promise<Found> {
  const { type, filters, q, cursor, limit } = input;
  const ids = await archive.lists.use(
    presentKey(place, type, q, JSON.stringify(filters)),
    () => chooseIds(archive, em, place, input),
    (chosen) => chosen,
  );
  const start = placeAfter(ids, cursor);
  const page = [...ids.subarray(start, start + limit + 1)];
  if (page.length === 0) return { rows: [], count: ids.length };
  const { generation, rows } = await readEntities(em, typeRef(place, type), page);
  assertPresent(place, generation);
  return { rows, count: ids.length };
}

/** How many of the texts one page holds: at least one. */
function numFitting(texts: readonly string[]): number {
  let length = 0;
  const end = texts.findIndex((text) => (length += text.length) > maxPageLength);
  return end === -1 ? texts.length : Math.max(1, end);
}

/** Where in rising numbers the first one stands that is larger. */
function placeAfter(ids: Int32Array, cursor: number): number {
  let [low, high] = [0, ids.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ids[middle] ?? 0) > cursor) high = middle;
    else low = middle + 1;
  }
  return low;
}
