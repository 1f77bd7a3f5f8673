import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { localeChain, presentRow } from "../../../db/projections/present.ts";
import { projectorVersion, type Row } from "../../../db/projections/project.ts";
import {
  applyRebuild,
  previewRebuild,
  RebuildRefused,
  showChanges,
  undoRebuild,
} from "../../../db/projections/rebuild.ts";
import { projectionOf } from "../../../db/projections/refresh.ts";
import { resources } from "../../../db/projections/resources/index.ts";
import { readProjectionState } from "../../../db/queries/gamedata/projection-state.ts";
import { rowsOf } from "../../../db/queries/rows.ts";
import type { SourceEntity, SourceTexts } from "../../../importers/envelope/contract.ts";
import { startArchive, type Archive } from "../../support/archive.ts";
import { blade, made, smallGame, smallTexts } from "../../support/projected-game.ts";

const game = "gamedata";
let archive: Archive;
let version = 0;

const load = (entities: readonly SourceEntity[], locales: SourceTexts = smallTexts()) =>
  archive.import(
    { game, version: `1.${++version}`, entities, locales },
    { project: projectionOf(game) },
  );

const inTransaction = <T>(work: Parameters<Archive["orm"]["em"]["transactional"]>[0]) =>
  archive.orm.em.fork().transactional(work) as Promise<T>;

/** Id -> the transaction that wrote the row. */
const writers = async () => {
  const parts = resources.map(
    ({ table }) => sql`select id, xmin::text as writer from ${sql.table(table)}`,
  );
  const rows = await rowsOf(
    archive.orm.em.fork(),
    sql<{ id: string; writer: string }>`${sql.join(parts, sql` union all `)}`,
  );
  return new Map(rows.map(({ id, writer }) => [id, writer]));
};

const column = async (table: string, id: string, name: string) => {
  const [row] = await rowsOf(
    archive.orm.em.fork(),
    sql<{
      value: unknown;
    }>`select ${sql.ref(name)} as value from ${sql.table(table)} where id = ${id}`,
  );
  return row?.value;
};

/** Rows written by a later import. */
const touchedBy = async (work: () => Promise<unknown>) => {
  const old = await writers();
  await work();
  const fresh = await writers();
  const written = [...fresh].flatMap(([id, writer]) => (old.get(id) === writer ? [] : id));
  return { written: written.sort(), gone: [...old.keys()].filter((id) => !fresh.has(id)) };
};

const swap = (id: string, other: SourceEntity) =>
  smallGame().map((one) => (one.id === id ? other : one));

const refusal = async (work: () => Promise<unknown>) => {
  const error = await work().then(
    () => null,
    (reason: unknown) => reason,
  );
  return error instanceof RebuildRefused ? error.code : error;
};

const preview = () =>
  inTransaction<Awaited<ReturnType<typeof previewRebuild>>>((em) => previewRebuild(em, game));

const isExact = async () => {
  const { numAdded, numChanged, numRemoved } = await preview();
  assert.deepEqual([numAdded, numChanged, numRemoved], [0, 0, 0]);
};

/** Rows as an earlier projector left them: another name, one extra, one missing. */
const age = async () => {
  const em = archive.orm.em.fork();
  await rowsOf(
    em,
    sql`update projection_items set gear_score = -1, inputs_hash = 'old'
        where id = 'id.item.frost_blade_5001'`,
  );
  await rowsOf(em, sql`delete from projection_perks`);
  await rowsOf(
    em,
    sql`insert into projection_emotes select 'id.emote.ghost', archetype, slug, name, icon,
          upstream_key, patch, description, ability_ids, effect_ids, allowed_classes, companions,
          text_keys, inputs_hash, texts_hash, enums
        from projection_emotes limit 1`,
  );
};

const gear = () => column("projection_items", "id.item.frost_blade_5001", "gear_score");

const apply = (build: number | null) =>
  inTransaction<{ generation: number }>((em) => applyRebuild(em, game, build));

const takeBack = () => inTransaction((em) => undoRebuild(em, game));

describe("the projection of imports", () => {
  before(async () => {
    archive = await startArchive();
    await load(smallGame());
  });
  after(() => archive.stop());

  describe("follows changes", () => {
    it("has a row for every entity of a resource, and for no other entity", async () => {
      const types = new Set(resources.map(({ type }) => type));
      const expected = smallGame().filter(({ type }) => types.has(type));
      assert.deepEqual(
        [...(await writers()).keys()].sort(),
        expected.map(({ id }) => id ?? "").sort(),
      );
      await isExact();
    });

    it("changes its version when rows come out differently", async () => {
      const shown: string[] = [];
      for (const resource of resources) {
        const rows = await rowsOf(
          archive.orm.em.fork(),
          sql<Row>`select * from ${sql.table(resource.table)} order by id`,
        );
        for (const row of rows) shown.push(presentRow(resource, row, localeChain("de"), "single"));
      }
      assert.deepEqual(
        { version: projectorVersion, rows: hash("sha256", shown.join("\n"), "hex").slice(0, 16) },
        { version: 3, rows: "3cf13ffa4f6c2f46" },
        "raise projectorVersion, so that rows are made anew, and write both here",
      );
    });

    it("writes only rows whose inputs changed", async () => {
      assert.deepEqual(await touchedBy(() => load(smallGame())), { written: [], gone: [] });
      const one = await touchedBy(() =>
        load(swap("id.item.frost_blade_5001", blade(5, { gear_score: 1 }))),
      );
      assert.deepEqual(one, { written: ["id.item.frost_blade_5001"], gone: [] });
      await isExact();
    });

    it("rebuilds a row when a companion entity changes, appears or disappears", async () => {
      await load(smallGame());
      const reward = smallGame().find(({ id }) => id === "id.quest_reward.smith_01");
      assert.ok(reward);
      const changed = { ...reward, data: { reward_item_array: [] } };
      const quest = ["id.quest.smith_01"];
      assert.deepEqual(
        (await touchedBy(() => load(swap(changed.id ?? "", changed)))).written,
        quest,
      );
      assert.equal(
        await column("projection_quests", "id.quest.smith_01", "patch"),
        `1.${version}.0+build.0`,
      );
      const without = smallGame().filter(({ id }) => id !== changed.id);
      assert.deepEqual((await touchedBy(() => load(without))).written, quest);
      assert.deepEqual(await column("projection_quests", "id.quest.smith_01", "rewards"), []);
      assert.equal(
        await column("projection_quests", "id.quest.smith_01", "patch"),
        `1.${version}.0+build.0`,
      );
      const lost = { ...changed, id: "id.quest_reward.lost", upstream_key: "Id_lost" };
      assert.deepEqual((await touchedBy(() => load([...without, lost]))).written, [
        "id.quest.smith_daily_02",
      ]);
      const shorter = smallGame().filter(({ id }) => id !== "id.item.boots");
      assert.deepEqual((await touchedBy(() => load(shorter))).gone, ["id.item.boots"]);
      await isExact();
    });

    it("rebuilds rows and labels when a text changes in any language", async () => {
      await load(smallGame());
      const texts = smallTexts();
      const german = {
        ...texts["de"],
        Item_Boots: "Stiefel",
        "Type.Item.Rarity.Legendary": "Legendär",
      };
      const touched = await touchedBy(() => load(smallGame(), { ...texts, de: german }));
      assert.deepEqual(touched.written, ["id.item.boots"]);
      const labels = sql<{ labels: Record<string, string> }>`select labels from projection_facets
      where column_name = 'rarity' and slug = 'legend'`;
      assert.equal((await rowsOf(archive.orm.em.fork(), labels))[0]?.labels["de"], "Legendär");
      await isExact();
    });

    it("keeps no trace of a failed import, or of another game", async () => {
      const broken = async (em: Parameters<ReturnType<typeof projectionOf>>[0]) => {
        await projectionOf(game)(em, { game });
        throw new Error("after the projection");
      };
      const fails = () =>
        archive
          .import(
            { game, version: "1.999", entities: [blade(1)], locales: {} },
            { project: broken },
          )
          .catch(() => {});
      assert.deepEqual(await touchedBy(fails), { written: [], gone: [] });
      const others = () =>
        archive.import({ game: "other", entities: [blade(1)] }, { project: projectionOf(game) });
      assert.deepEqual(await touchedBy(others), { written: [], gone: [] });
    });

    it("takes nothing from another branch, not even the upstream names of an entity", async () => {
      await load(smallGame());
      const head = `1.${version}`;
      const [first = blade(1), ...rest] = smallGame();
      const project = projectionOf(game);
      const side = (numbered: string, entities: readonly SourceEntity[], more = {}) => {
        const branch = { slug: "side", ...more };
        const locales = smallTexts();
        return archive.import({ game, version: numbered, branch, entities, locales }, { project });
      };
      const begin = () =>
        side(`${head}.1`, [blade(77), ...smallGame().slice(1)], {
          parent: "main",
          fork_version: head,
        });
      assert.deepEqual(await touchedBy(begin), { written: [], gone: [] });
      const rename = () => side(`${head}.2`, [{ ...first, upstream_key: "Id_Renamed" }, ...rest]);
      assert.deepEqual(await touchedBy(rename), { written: [], gone: [] });
      assert.equal(
        await column("projection_items", String(first.id), "upstream_key"),
        first.upstream_key,
      );
      const known = { ...first, upstream_key: "Id_Renamed" };
      assert.deepEqual(await touchedBy(() => load([known, ...rest])), {
        written: [first.id],
        gone: [],
      });
      assert.equal(
        await column("projection_items", String(first.id), "upstream_key"),
        "Id_Renamed",
      );
      await isExact();
    });
  });
  describe("is rebuilt and rolled back", () => {
    it("previews a rebuild row by row and field by field, and changes nothing", async () => {
      await load(smallGame());
      await age();
      const old = await writers();
      const build = await preview();
      assert.deepEqual([build.numAdded, build.numChanged, build.numRemoved], [1, 1, 1]);
      const em = archive.orm.em.fork();
      const [ghost, ...rest] = await showChanges(em, build.id, { after: "", limit: 10 });
      assert.deepEqual([ghost?.id, ghost?.op], ["id.emote.ghost", "removed"]);
      const [changed, added] = rest;
      assert.deepEqual(changed, {
        id: "id.item.frost_blade_5001",
        op: "changed",
        fields: [{ column: "gear_score", before: -1, after: 500 }],
      });
      assert.deepEqual([added?.id, added?.op], ["id.perk.swift", "added"]);
      assert.deepEqual(await writers(), old);
      assert.equal(await gear(), -1);
    });

    it("applies a preview, rolls it back once, and applies without a preview", async () => {
      const build = await preview();
      const { generation } = await apply(build.id);
      assert.equal(generation, build.generation + 1);
      assert.equal(await gear(), 500);
      await isExact();
      assert.equal(await refusal(() => apply(build.id)), "projection:no_build");
      await takeBack();
      assert.equal(await gear(), -1);
      const ids = await writers();
      assert.ok(ids.has("id.emote.ghost") && !ids.has("id.perk.swift"));
      assert.equal(await refusal(takeBack), "projection:nothing_to_take_back");
      await apply(null);
      assert.equal(await gear(), 500);
      await isExact();
      const state = await readProjectionState(archive.orm.em.fork());
      assert.equal(state?.projectorVersion, projectorVersion);
    });

    it("rolls back a rebuild that was followed by rebuilds without changes, such as a repeated run", async () => {
      await age();
      await apply(null);
      for (let n = 0; n < 2; n++) await apply(null);
      await takeBack();
      assert.equal(await gear(), -1);
      assert.equal(await refusal(takeBack), "projection:nothing_to_take_back");
      await apply(null);
      await apply(null);
      await load(swap("id.item.frost_blade_5001", blade(5, { gear_score: 3 })));
      assert.equal(await refusal(takeBack), "projection:outdated");
      await load(smallGame());
      await age();
      await apply(null);
    });

    it("refuses a preview and a rollback that a later import has made stale", async () => {
      const stale = await preview();
      await load(swap("id.item.frost_blade_5001", blade(5, { gear_score: 2 })));
      assert.equal(await refusal(() => apply(stale.id)), "projection:outdated");
      assert.equal(await refusal(takeBack), "projection:outdated");
      const unknown = () => inTransaction((em) => previewRebuild(em, "nowhere"));
      assert.equal(await refusal(unknown), "projection:no_game");
      assert.equal(await refusal(() => apply(987_654)), "projection:no_build");
    });

    it("rebuilds the rows of a rollback at the next import, whatever that import changes", async () => {
      await age();
      await apply(null);
      await takeBack();
      assert.equal(await gear(), -1);
      await load([...smallGame(), made("perk", "late", { name: "Perk_Swift" })]);
      assert.equal(await gear(), 500);
      await isExact();
    });

    it("keeps the five newest builds", async () => {
      const em = archive.orm.em.fork();
      await age();
      const first = await preview();
      for (let n = 0; n < 5; n++) await preview();
      const kept = await rowsOf(em, sql<{ id: number }>`select id from projection_builds`);
      assert.equal(kept.length, 5);
      assert.deepEqual(await showChanges(em, first.id, { after: "", limit: 10 }), []);
      assert.equal(await refusal(() => apply(first.id)), "projection:no_build");
    });
  });
});
