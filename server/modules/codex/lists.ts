import type { Archive, ArchiveBody } from "../../../db/archive.ts";
import {
  hasDataFilter,
  listEntities,
  type ListFilter,
  type ListPage,
} from "../../../db/queries/codex-list.ts";
import { AppError } from "../../core/errors.ts";
import { searchWords } from "../../core/search-words.ts";
import { assertPresent, finishedBody, presentKey, readAtOnce, type Place } from "./places.ts";
import { entityText } from "./present.ts";

/** Characters of entities in one page: one that has large ones ends early, and `next` leads on. */
const maxPageLength = 8 * 1024 * 1024;

/** What waited longer could not be answered in the time a request has. */
const maxWaitMs = 5_000;

export interface ListInput {
  type: string;
  filters: readonly ListFilter[];
  /** Empty searches nothing. */
  q: string;
  limit: number;
  cursor: number;
}

/** One page of the present entities of a type, with how many there are in all (COD-03). */
export function readList(archive: Archive, place: Place, input: ListInput): Promise<ArchiveBody> {
  const { type, filters, q, limit, cursor } = input;
  const words = q === "" ? null : searchWords(q);
  return readAtOnce(archive, place, async (em, current) => {
    const { game, branch } = current;
    const query = { branchId: branch.id, type, filters, words };
    const read = async (isCounted: boolean) => {
      const page = { cursor, limit: limit + 1, isCounted };
      const work = () => listEntities(em, game.id, query, page);
      const found = await (hasDataFilter(query) ? inTurn(archive, work) : work());
      assertPresent(current, found.generation);
      return found;
    };
    let found: ListPage | null = null;
    // The count does not depend on the page, so it is kept for the pages that follow.
    const countKey = presentKey(current, "count", type, q, JSON.stringify(filters));
    const count = await archive.bodies.use(
      countKey,
      async () => {
        found = await read(true);
        return { content: String(found.count), etag: "" };
      },
      ({ content }) => content,
    );
    const { rows } = found ?? (await read(false));
    const texts = rows.slice(0, limit).map((row) => entityText(row, game.slug, branch.slug));
    const entities = texts.slice(0, numFitting(texts));
    const next = rows.length > entities.length ? (rows[entities.length - 1]?.id ?? null) : null;
    return finishedBody(
      `{"entities":[${entities.join(",")}],"count":${count},"limit":${limit},"next":${next}}`,
    );
  });
}

function inTurn<T>({ scans }: Archive, work: () => Promise<T>): Promise<T> {
  const latest = performance.now() + maxWaitMs;
  return scans.pass(() => {
    if (performance.now() > latest) throw new AppError("server:unavailable");
    return work();
  });
}

/** How many of the texts one page holds: at least one. */
function numFitting(texts: readonly string[]): number {
  let length = 0;
  const end = texts.findIndex((text) => (length += text.length) > maxPageLength);
  return end === -1 ? texts.length : Math.max(1, end);
}
