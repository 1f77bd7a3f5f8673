import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { Compile } from "typebox/compile";
import { rowsOf } from "../../db/queries/rows.ts";
import type { ImportEnvelope, ImportReport, SourceEntity } from "../../importers/contract.ts";
import { gamedataShapes } from "../../importers/gamedata/shapes.ts";
import { importEnvelope } from "../../importers/run.ts";
import { readSample } from "../../importers/sample/sample.ts";
import { importTime, startArchive, type Archive } from "../support/archive.ts";

const projected = `item monster class skill spell perk emote religion quest merchant shop dungeon
  dungeon_grade dungeon_card dungeon_layout spawner achievement triumph faustian_bargain workshop
  workshop_level workshop_upgrade workshop_service loot_drop_group loot_drop loot_drop_rate`.split(
  /\s+/,
);

describe("the sample game", () => {
  let archive: Archive;
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

  before(async () => {
    archive = await startArchive();
    for await (const envelope of readSample("gamedata")) envelopes.push(envelope);
  });
  after(() => archive.stop());

  it("has every type of the projection, in the shape that it reads", async () => {
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
    // What nobody knows yet comes along.
    assert.ok(types.has("companion"));
  });

  it("tells relations at the end that is read, whatever end upstream tells them at", async () => {
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

  it("keeps ids when upstream spells a name in another way", async () => {
    const [before, after] = [await entitiesOf("1.1.0.4188"), await entitiesOf("1.2.0.4311")];
    const id = "id.item.potion_of_sight";
    assert.equal(before.get(id)?.upstream_key, "Id_Item_PotionofSight");
    assert.equal(after.get(id)?.upstream_key, "Id_Item_PotionOfSight");
    const entry = before.get("id.shop_entry.alchemist_potion_of_sight");
    assert.equal(entry?.data["item_id"], id);
  });

  it("is imported patch by patch with changes of every kind, and the second time changes nothing", async () => {
    const run = async () => {
      const reports: ImportReport[] = [];
      for (const envelope of envelopes)
        reports.push(await importEnvelope(archive.orm.em.fork(), envelope, { now: importTime }));
      return reports;
    };
    const counts = (await run()).map((one) => [
      `${one.branch} ${one.patch}`,
      one.added,
      one.changed,
      one.removed,
    ]);
    assert.deepEqual(
      counts.map(([name]) => name),
      [
        "main 1.0.0+build.4102",
        "main 1.1.0+build.4188",
        "main 1.1.0+build.4188.17",
        "main 1.2.0+build.4311",
        "main 1.2.1+build.4340",
        "main 1.3.0+build.4467",
        "main 1.3.0+build.4467.2661",
        "main 1.4.0+build.4602",
        "playtest 1.3.0+build.4400.1",
        "playtest 1.3.0+build.4415.2",
      ],
    );
    const [first, ...later] = counts.map(([, ...numbers]) => numbers);
    assert.ok(Number(first?.[0]) > 1000);
    assert.deepEqual(later[5], [0, 0, 0], "a patch that changed nothing");
    assert.ok(later.some(([added, changed, removed]) => added && changed && removed));
    const traces = await archive.traces();
    const second = await run();
    assert.ok(second.every(({ added, changed, removed }) => added + changed + removed === 0));
    assert.deepEqual(await archive.traces(), traces);
  });

  it("changes nothing but pictures in a patch of its artists", async () => {
    const rows = await rowsOf(
      archive.orm.em.fork(),
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
