import assert from "node:assert/strict";
import { after, before } from "node:test";
import { sql } from "kysely";
import { rowsOf } from "../../../db/queries/rows.ts";
import { type SourceEntity } from "../../../importers/envelope/contract.ts";
import { entity, startArchive, type Archive } from "../../support/archive.ts";

export const torch = (power: number) => entity("id.item.torch", { data: { power } });
export const sword = entity("id.item.sword", { data: { power: 9 }, tags: ["weapon", "iron"] });
export let archive: Archive;
let games = 0;
export let game = "";

export const run = (version: string, entities: readonly SourceEntity[], rest = {}, options = {}) =>
  archive.import({ game, version, entities, ...rest }, options);

export const counts = ({ added = 0, changed = 0, removed = 0, unchanged = 0 }) => ({
  added,
  changed,
  removed,
  unchanged,
});

/** Content of every open and closed row of the game, without ids. */
export const rows = () =>
  rowsOf(
    archive.orm.em.fork(),
    sql`select b.slug as branch, e.key, d.hash, v.from_ord, v.to_ord, v.is_inherited
        from codex_versions v join codex_entities e on e.id = v.entity_id
        join codex_games g on g.id = e.game_id join codex_branches b on b.id = v.branch_id
        left join codex_documents d on d.id = v.document_id
        where g.slug = ${game} order by 1, 2, 4`,
  );

export const heads = () =>
  rowsOf(
    archive.orm.em.fork(),
    sql<{ branch: string; name: string; data: unknown; tags: string[]; search: string }>`
        select b.slug as branch, h.name, h.data, h.tags, h.search::text
        from codex_head h join codex_branches b on b.id = h.branch_id
        join codex_games g on g.id = b.game_id where g.slug = ${game} order by 1, 2`,
  );

export const fresh = () => (game = `game-${++games}`);
/** Returns to the game before the latest one. */
export const usePreviousGame = () => (game = `game-${games - 1}`);
export const same = (actual: unknown, expected: unknown) => assert.deepEqual(actual, expected);
export const numbers = ({ game: _g, branch: _b, patch: _p, ...rest }: Record<string, unknown>) =>
  rest;

/** A database with separate games. */
export function startsArchive(): void {
  before(async () => {
    archive = await startArchive();
  });
  after(() => archive.stop());
}
