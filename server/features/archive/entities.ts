import type { EntityManager } from "@mikro-orm/postgresql";
import type { Archive, ArchiveBody } from "./domain/archive.ts";
import { rangesBetween, type CodexPatch } from "../../../db/queries/archive/codex-directory.ts";
import {
  countTypes,
  findByUpstreamKey,
  findEntities,
  findPresentEntity,
  listHistory,
  listLocales,
  type EntityRow,
} from "../../../db/queries/archive/codex-read.ts";
import { AppError } from "../../platform/errors.ts";
import { assertPresent, finishedBody, readAtOnce, readPresent, type Place } from "./places.ts";
import { entityText, headOf, presentHistoryRow, presentPatch } from "./present.ts";

/** Maximum relations in one read (COD-06). */
export const maxRels = 16;
/** Maximum characters of hydrated rows in a response, as in a page of a list. */
const maxHydratedLength = 8 * 1024 * 1024;
/** Batch size of targets: too large ones are refused before all are in memory. */
const targetsPerRead = 64;

const noRels: readonly string[] = [];
const upstreamPrefix = "Id_";

/** The canonical id for an id or upstream key in a path; null for an unknown upstream key. */
export async function canonicalId(
  em: EntityManager,
  gameId: number,
  { branchId, ord }: CodexPatch,
  id: string,
): Promise<string | null> {
  if (!id.startsWith(upstreamPrefix)) return id;
  return findByUpstreamKey(em, gameId, { branchId, ord }, id);
}

/** `a,b,,a` -> a and b. */
export function readRels(text: string | undefined): readonly string[] {
  if (text === undefined) return noRels;
  const rels = [...new Set(text.split(",").map((rel) => rel.trim()))].filter((rel) => rel !== "");
  if (rels.length <= maxRels) return rels;
  throw refusedRels();
}

const refusedRels = () =>
  new AppError("request:invalid_query", { params: { parameter: "hydrate" } });

/** One entity at a patch or now, with the requested link targets. */
export function readEntity(
  archive: Archive,
  place: Place,
  input: { id: string; patch: CodexPatch | null; rels: readonly string[] },
): Promise<ArchiveBody> {
  if (input.rels.length === 0 && !input.id.startsWith(upstreamPrefix))
    return readPlainEntity(archive, place, input);
  return readPresent(archive, place, async (em, { game, branch }) => {
    const patch = input.patch ?? headOf(branch);
    const key = patch === null ? null : await canonicalId(em, game.id, patch, input.id);
    if (key === null || patch === null) throw new AppError("codex:entity_not_found");
    const state = { branchId: patch.branchId, ord: patch.ord };
    const row = (await findEntities(em, game.id, state, [key])).get(key);
    if (row === undefined) throw new AppError("codex:entity_not_found");
    const textOf = (one: EntityRow) => entityText(one, game.slug, branch.slug);
    if (input.rels.length === 0) return finishedBody(textOf(row));
    const targets = targetsOf(row, input.rels);
    const find = (keys: readonly string[]) => findEntities(em, game.id, state, keys);
    const texts = await readTargets([...targets.values()].flat(), find, textOf);
    const shown = [...targets].map(([rel, ids]) => {
      const rows = ids.map((id) => texts.get(id) ?? "null");
      const value = rows.length > 1 ? `[${rows.join(",")}]` : (rows[0] ?? "null");
      return `${JSON.stringify(rel)}:${value}`;
    });
    const hydrated = `,"hydrated":{${shown.join(",")}}`;
    return finishedBody(entityText(row, game.slug, branch.slug, hydrated));
  });
}

/** Fast path for the most frequent read: an entity by its id, in one statement. */
function readPlainEntity(
  archive: Archive,
  place: Place,
  input: { id: string; patch: CodexPatch | null },
): Promise<ArchiveBody> {
  return readAtOnce(archive, place, async (em, current) => {
    const { game, branch } = current;
    const patch = input.patch ?? headOf(branch);
    if (patch === null) throw new AppError("codex:entity_not_found");
    const state = { branchId: patch.branchId, ord: patch.ord };
    const { generation, row } = await findPresentEntity(em, game.id, state, input.id);
    assertPresent(current, generation);
    if (row === null) throw new AppError("codex:entity_not_found");
    return finishedBody(entityText(row, game.slug, branch.slug));
  });
}

/** Texts of the existing targets; a target counts once per link. */
async function readTargets(
  ids: readonly string[],
  find: (keys: readonly string[]) => Promise<Map<string, EntityRow>>,
  textOf: (row: EntityRow) => string,
): Promise<Map<string, string>> {
  const links = Map.groupBy(ids, (id) => id);
  const keys = [...links.keys()];
  const texts = new Map<string, string>();
  let length = 0;
  for (let at = 0; at < keys.length; at += targetsPerRead) {
    for (const [key, row] of await find(keys.slice(at, at + targetsPerRead))) {
      const text = textOf(row);
      length += text.length * (links.get(key)?.length ?? 0);
      if (length > maxHydratedLength) throw refusedRels();
      texts.set(key, text);
    }
  }
  return texts;
}

function targetsOf(row: EntityRow, rels: readonly string[]): Map<string, string[]> {
  const { links } = JSON.parse(`{${row.body}}`) as { links: { rel: string; target: string }[] };
  return new Map(
    rels.map((rel) => [rel, links.filter((link) => link.rel === rel).map((link) => link.target)]),
  );
}

/** Every change of an entity on a branch; 404 only when it never existed there (COD-04). */
export function readHistory(archive: Archive, place: Place, id: string): Promise<ArchiveBody> {
  const read = id.startsWith(upstreamPrefix) ? readPresent : readAtOnce;
  return read(archive, place, async (em, current) => {
    const { game, branch } = current;
    const head = headOf(branch);
    const key = head === null ? null : await canonicalId(em, game.id, head, id);
    if (key === null || head === null) throw new AppError("codex:entity_not_found");
    const found = await listHistory(em, game.id, key, rangesBetween(game, null, head));
    assertPresent(current, found.generation);
    if (found.history.length === 0) throw new AppError("codex:entity_not_found");
    const history = found.history.map(presentHistoryRow);
    return finishedBody(JSON.stringify({ id: key, game: game.slug, branch: branch.slug, history }));
  });
}

/** Present contents of a branch (COD-02). */
export function readManifest(archive: Archive, place: Place): Promise<ArchiveBody> {
  return readPresent(archive, place, async (em, { game, branch }) => {
    const patch = headOf(branch);
    const counts = await countTypes(em, branch.id);
    const state = patch === null ? null : { branchId: patch.branchId, ord: patch.ord };
    const locales = state === null ? [] : await listLocales(em, state);
    return finishedBody(
      JSON.stringify({
        game: game.slug,
        branch: branch.slug,
        patch: patch === null ? null : presentPatch(patch),
        types: Object.fromEntries(counts.map(({ type, count }) => [type, count])),
        total: counts.reduce((sum, { count }) => sum + count, 0),
        locales,
      }),
    );
  });
}
