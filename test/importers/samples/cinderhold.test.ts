import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import sharp from "sharp";
import { Compile } from "typebox/compile";
import { localeChain, presentRow } from "../../../db/projections/present.ts";
import { resources } from "../../../db/projections/resources/index.ts";
import { StateReader } from "../../../db/projections/read-context.ts";
import { readDirectory } from "../../../db/queries/archive/codex-directory.ts";
import { rowsOf } from "../../../db/queries/rows.ts";
import { gamedata, readExports } from "../../../importers/adapters/gamedata/adapter.ts";
import { branchOf, writeTree } from "../../../importers/adapters/gamedata/tree.ts";
import type { ImportEnvelope, SourceEntity } from "../../../importers/envelope/contract.ts";
import { gamedataShapes } from "../../../importers/adapters/gamedata/shapes.ts";
import { importEnvelope } from "../../../importers/pipeline/import.ts";
import { readKnownIds } from "../../../importers/pipeline/known-ids.ts";
import { readSample, sampleTree } from "../../../importers/samples/cinderhold/sample.ts";
import { importSample } from "../../../workers/processors/sample-data.ts";
import { startApp, type App } from "../../support/app.ts";
import { archiveTraces, entity, envelope, importTime } from "../../support/archive.ts";

const projected = `item monster class skill spell perk emote religion quest merchant shop dungeon
  dungeon_grade dungeon_card dungeon_layout spawner achievement triumph faustian_bargain workshop
  workshop_level workshop_upgrade workshop_service loot_drop_group loot_drop loot_drop_rate`.split(
  /\s+/,
);

async function collect<T>(source: AsyncIterable<T> | Iterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of source) all.push(one);
  return all;
}

let app: App;
const envelopes: ImportEnvelope[] = [];

const named = (version: string) => {
  const found = envelopes.find(({ header }) => header.patch.version_raw === version);
  assert.ok(found, version);
  return found;
};

const entitiesOf = async (version: string) => {
  const entities = new Map<string, SourceEntity>();
  for await (const entity of named(version).entities()) entities.set(entity.id ?? "", entity);
  return entities;
};

describe("the sample game", () => {
  before(async () => {
    app = await startApp();
    for await (const envelope of readSample("gamedata")) envelopes.push(envelope);
  });
  after(() => app.stop());

  describe("has the parts of a game", () => {
    it("has every type of the projection, in the shape the projection reads", async () => {
      const checks = new Map(
        Object.entries(gamedataShapes).map(([type, shape]) => [type, Compile(shape)]),
      );
      const types = new Map<string, number>();
      for (const { header } of envelopes)
        for (const { id, type, data } of (await entitiesOf(header.patch.version_raw)).values()) {
          types.set(type, (types.get(type) ?? 0) + 1);
          assert.deepEqual(checks.get(type)?.Errors(data) ?? [], [], id);
        }
      for (const type of projected) assert.ok((types.get(type) ?? 0) >= 30, type);
      // Includes types unknown to the projection.
      assert.ok(types.has("companion"));
    });

    it("has three languages, ten classes with an arena variant each, and PNG pictures", async () => {
      const first = named("1.0.0.4102");
      assert.deepEqual(Object.keys(first.locales).sort(), ["de", "en", "zh-Hans"]);
      assert.ok(first.assets.length > 50);
      for (const { path, media_type: mediaType } of first.assets) {
        const picture = sharp(await first.readAsset(path));
        const { format } = await picture.metadata();
        const { info } = await picture.raw().toBuffer({ resolveWithObject: true });
        assert.deepEqual([mediaType, format], ["image/png", "png"], path);
        assert.ok(info.width >= 16 && info.width === info.height, path);
      }
      const entities = await entitiesOf("1.0.0.4102");
      const classes = [...entities.values()].filter(({ type }) => type === "class");
      const [arena, open] = [true, false].map((isArena) =>
        classes.filter(({ id }) => id?.includes("arena") === isArena),
      );
      assert.deepEqual([open?.length, arena?.length], [10, 10]);
    });

    it("stores each relation on the side that is read, whichever side upstream uses", async () => {
      const entities = await entitiesOf("1.0.0.4102");
      const data = (id: string): Record<string, unknown> => entities.get(id)?.data ?? {};
      assert.equal(data("id.merchant.lanternkeeper")["shop_id"], "id.shop.lanternkeeper");
      assert.deepEqual(data("id.shop.alchemist")["stock"], [
        "id.shop_entry.alchemist_bandage",
        "id.shop_entry.alchemist_healing_draught",
        "id.shop_entry.alchemist_potion_of_sight",
      ]);
      assert.equal(data("id.quest.the_long_watch")["merchant_id"], "id.merchant.lanternkeeper");
      assert.equal(data("id.quest.the_long_watch")["order"], 4);
      assert.deepEqual(
        data("id.religion.the_ember")["offering_level_exp"],
        [50, 200, 450, 800, 1250],
      );
      assert.deepEqual(data("id.item.cinder_dagger_5001")["required_classes"], ["id.class.rogue"]);
      assert.ok(data("id.class.bard")["perks"]);
      const links = entities.get("id.class.bard")?.links ?? [];
      assert.ok(
        links.some(({ rel, target }) => rel === "perks" && target === "id.perk.perfect_pitch"),
      );
    });

    it("is the same when it is read from disk", async () => {
      const folder = mkdtempSync(join(tmpdir(), "ember-sample-"));
      try {
        assert.ok((await writeTree(sampleTree(), folder, "main/1.0.0.4102/")) > 1000);
        const [read, ...others] = await collect(
          gamedata.read(folder, { game: "gamedata", knownIds: async () => new Map() }),
        );
        assert.ok(read && others.length === 0);
        const made = named("1.0.0.4102");
        assert.deepEqual([read.header, read.locales], [made.header, made.locales]);
        assert.deepEqual(read.assets, made.assets);
        assert.deepEqual(await collect(read.entities()), [
          ...(await entitiesOf("1.0.0.4102")).values(),
        ]);
        const [{ path } = { path: "" }] = read.assets;
        assert.deepEqual(
          Buffer.from(await read.readAsset(path)),
          Buffer.from(await made.readAsset(path)),
        );
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    });
  });
  describe("keeps its ids", () => {
    it("keeps ids when upstream changes the spelling of a name", async () => {
      const [before, after] = [await entitiesOf("1.1.0.4188"), await entitiesOf("1.2.0.4311")];
      const id = "id.item.potion_of_sight";
      assert.equal(before.get(id)?.upstream_key, "Id_Item_PotionofSight");
      assert.equal(after.get(id)?.upstream_key, "Id_Item_PotionOfSight");
      const entry = before.get("id.shop_entry.alchemist_potion_of_sight");
      assert.equal(entry?.data["item_id"], id);
    });

    it("keeps ids when only a newer export with changed spellings is available", async () => {
      const before = await entitiesOf("1.1.0.4188");
      const named = [...before].map(([id, one]) => [one.upstream_key.toLowerCase(), id] as const);
      const itemIdsWith = async (known: Map<string, string>) => {
        const tree = branchOf(sampleTree(), "main/1.2.0.4311");
        const target = { game: "gamedata", knownIds: async () => known };
        const [only] = await collect(readExports(tree, target));
        assert.ok(only);
        return new Map((await collect(only.entities())).map((one) => [one.upstream_key, one.id]));
      };
      const key = "Id_Item_PotionOfSight";
      const renamed = new Map(named).set(key.toLowerCase(), "id.item.as_it_was_once");
      assert.notEqual((await itemIdsWith(new Map())).get(key), "id.item.as_it_was_once");
      const ids = await itemIdsWith(renamed);
      assert.equal(ids.get(key), "id.item.as_it_was_once");
      for (const [upstreamKey, id] of ids)
        if (upstreamKey !== key && renamed.has(upstreamKey.toLowerCase()))
          assert.equal(id, renamed.get(upstreamKey.toLowerCase()), upstreamKey);
    });
  });
  describe("is imported", () => {
    it("is imported patch by patch with every kind of change, and a second import changes nothing", async () => {
      const game = "gamedata";
      assert.deepEqual(await importSample({ game, stamp: 1 }, app.deps), { imported: 10 });
      const patchesOf = async (branch: string) => {
        const { body } = await app.client.get(`/v1/codex/gamedata/patches?branch=${branch}`);
        const { patches } = body as { patches: (Record<string, unknown> & { branch: string })[] };
        return patches
          .filter((patch) => patch.branch === branch)
          .map((one) => [one["version"], one["num_added"], one["num_changed"], one["num_removed"]]);
      };
      const main = (await patchesOf("main")).toReversed();
      assert.deepEqual(
        main.map(([version]) => version),
        [
          "1.0.0+build.4102",
          "1.1.0+build.4188",
          "1.1.0+build.4188.17",
          "1.2.0+build.4311",
          "1.2.1+build.4340",
          "1.3.0+build.4467",
          "1.3.0+build.4467.2661",
          "1.4.0+build.4602",
        ],
      );
      assert.equal((await patchesOf("playtest")).length, 2);
      assert.ok(Number(main[0]?.[1]) > 1000);
      assert.deepEqual(main[6]?.slice(1), [0, 0, 0], "a patch that changed nothing");
      assert.ok(main.some(([, added, changed, removed]) => added && changed && removed));
      const traces = await archiveTraces(app.deps.orm);
      for (const one of envelopes) {
        const report = await importEnvelope(app.deps.em, one, { now: importTime });
        assert.deepEqual([report.added, report.changed, report.removed], [0, 0, 0], one.name);
      }
      const known = await readKnownIds(app.deps.em, game);
      assert.equal(known.get("id_item_potionofsight"), "id.item.potion_of_sight");
      assert.deepEqual(await importSample({ game, stamp: 2 }, app.deps), { imported: 0 });
      assert.deepEqual(await archiveTraces(app.deps.orm), traces);
    });

    it("fills the typed tables of the projection", async () => {
      const { status, body } = await app.client.get("/v1/realms/gamedata/items?rarity=artifact");
      assert.equal(status, 200);
      const { rows } = body as { rows: { name: string }[] };
      assert.deepEqual(
        rows.map(({ name }) => name),
        ["Hollow Crown", "The Last Lantern"],
      );
    });

    it("is served at every older patch as the projection builds it from that patch", async () => {
      const chain = localeChain("de");
      const em = app.deps.em.fork();
      const [game] = await readDirectory(em, "gamedata");
      const patches = game?.branches.get("main")?.patches ?? [];
      assert.ok(game && patches.length >= 6);
      const gameId = game.id;
      const someOf = async (type: string): Promise<string[]> => {
        const keys = await rowsOf(
          em,
          sql<{ id: string }>`select key as id from codex_entities
          where game_id = ${gameId} and type = ${type} order by md5(key) limit 2`,
        );
        return keys.map(({ id }) => id);
      };
      for (const resource of resources) {
        const ids = await someOf(resource.type);
        for (const { branchId, ord, version } of patches) {
          const made = await new StateReader(em, gameId, { branchId, ord }, chain).project(
            resource,
            ids,
          );
          const expected = new Map(
            made.map(({ row }) => [row["id"], presentRow(resource, row, chain, "single")]),
          );
          for (const id of ids) {
            const path = `/v2/${resource.path}/${id}?locale=de&at_patch=${version}`;
            const { status, text } = await app.client.get(path);
            const body = expected.get(id);
            assert.equal(status, body === undefined ? 404 : 200, path);
            if (body !== undefined) assert.ok(text.includes(`"body":${body}`), path);
          }
        }
      }
    });

    it("is not imported into an archive that already has data", async () => {
      await importEnvelope(app.deps.em, envelope({ entities: [entity("id.item.a")] }), { now: 0 });
      assert.deepEqual(await importSample({ game: "dungeon", stamp: 1 }, app.deps), {
        imported: 0,
      });
    });

    it("changes nothing but pictures in an art patch", async () => {
      const rows = await rowsOf(
        app.deps.em,
        sql<{ id: string; before: string; after: string }>`
        select e.key as id, old.body as before, new.body as after
        from codex_patches p join codex_versions v on v.patch_id = p.id and not v.is_inherited
        join codex_entities e on e.id = v.entity_id
        join codex_versions o on o.entity_id = e.id and o.branch_id = v.branch_id and o.to_ord = v.from_ord
        join codex_documents new on new.id = v.document_id
        join codex_documents old on old.id = o.document_id
        where p.version_raw = '1.2.1.4340'`,
      );
      assert.ok(rows.length > 15);
      const bare = (body: string) => {
        const { icon, assets, ...rest } = JSON.parse(`{${body}}`) as Record<string, unknown>;
        return { rest, icon, assets };
      };
      for (const { id, before, after } of rows) {
        const [old, fresh] = [bare(before), bare(after)];
        assert.deepEqual(old.rest, fresh.rest, id);
        assert.notDeepEqual(old.icon, fresh.icon, id);
      }
    });
  });
});
