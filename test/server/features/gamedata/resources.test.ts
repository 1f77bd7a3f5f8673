import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { projectionOf } from "../../../../db/projections/refresh.ts";
import { resources } from "../../../../db/projections/resources/index.ts";
import type { SourceEntity } from "../../../../importers/envelope/contract.ts";
import { startApp, type App } from "../../../support/app.ts";
import { load as loadInto } from "../../../support/archive.ts";
import { made, smallGame, smallTexts } from "../../../support/projected-game.ts";

type Body = Record<string, unknown>;

const picture = Buffer.from("a picture");
const version = "0.1.2.8542-7";
let app: App;

const read = async (path: string) => {
  const answer = await app.client.get(`/v2${path}`);
  assert.equal(answer.status, 200, `${path}: ${answer.text.slice(0, 300)}`);
  return answer.body as Body;
};

const rowsOf = async (path: string) => (await read(path))["rows"] as Body[];
const idsOf = async (path: string) => (await rowsOf(path)).map(({ id }) => String(id));

const refused = async (path: string, status: number, code: string) => {
  const { json, status: got } = await app.client.get(path);
  const { flash } = json as { flash?: { errors: { code: string; params: Body }[] } };
  assert.deepEqual([got, flash?.errors[0]?.code], [status, code], path);
  return flash?.errors[0]?.params;
};

const load = (raw: string, entities: SourceEntity[]) =>
  loadInto(
    app,
    {
      game: "gamedata",
      version: raw,
      entities,
      assets: [{ path: "icons/blade.png", media_type: "image/png", role: "icon" }],
      files: { "icons/blade.png": picture },
      locales: smallTexts(),
    },
    { project: projectionOf("gamedata") },
  );

const illustrated = () =>
  smallGame().map((one, at) => (at === 0 ? { ...one, icon: "icons/blade.png" } : one));

describe("the resources of the projection", () => {
  before(async () => {
    app = await startApp({ hasJobs: false });
    await load(version, illustrated());
  });
  after(() => app.stop());

  describe("show items and monsters", () => {
    it("show an item with all fields, its attributes in the player's units", async () => {
      const { icon, ...item } = await read("/item/id.item.frost_blade_5001");
      assert.deepEqual(item, {
        id: "id.item.frost_blade_5001",
        archetype: "id.item.frost_blade",
        slug: "blade-of-kumas-frost",
        name: "Blade of Kuma's Frost",
        upstream_key: "Id_item_frost_blade_5001",
        patch: "0.1.2+build.8542.7",
        description: "Cold.",
        flavor: null,
        rarity: "legend",
        item_type: "weapon",
        slot_type: "primary",
        armor_type: null,
        hand_type: "two_handed",
        weapon_type: "sword",
        utility_type: null,
        misc_type: null,
        gear_score: 500,
        inventory_width: null,
        inventory_height: null,
        max_stack_size: 1,
        wearing_delay_time: 0.5,
        required_class: ["fighter"],
        vendor_price: null,
        experience: null,
        adventure_points: null,
        num_primary_attributes: 1,
        num_secondary_attributes: 1,
        is_droppable: true,
        is_tradable: true,
        primary_attributes: [
          {
            attribute: "physical_damage_weapon",
            min: 30,
            max: 31,
            enchanted_min: null,
            enchanted_max: null,
          },
        ],
        secondary_attributes: [
          {
            attribute: "move_speed_mod",
            min: 0.7,
            max: 2.9,
            enchanted_min: 0.1,
            enchanted_max: 5.7,
          },
        ],
      });
      const shown = icon as Body;
      assert.deepEqual([shown["media_type"], shown["bytes"]], ["image/png", picture.length]);
      assert.match(String(shown["url"]), /^\/v1\/codex\/assets\/[0-9a-f]{64}$/);
    });

    it("show a name in the requested language, its base language or English, or null", async () => {
      const nameIn = async (locale: string, id = "frost_blade_5001") =>
        (await read(`/items/id.item.${id}?locale=${locale}`))["name"];
      assert.equal(await nameIn("de"), "Frostklinge");
      assert.equal(await nameIn("DE-at"), "Frostklinge");
      assert.equal(await nameIn("zh-hans"), "冰刃");
      assert.equal(await nameIn("fr"), "Blade of Kuma's Frost");
      assert.equal(await nameIn("%00%FF%2F..", "boots").catch(() => "400"), "400");
      assert.equal(await nameIn("not a locale!", "boots"), "Boots");
      assert.equal(await nameIn("pt_BR", "boots"), "Botas");
      assert.equal(await nameIn("de", "boots"), "Boots", "an empty text is none");
      assert.equal(await nameIn("de", "unnamed"), null);
      assert.equal((await read("/items/id.item.unnamed"))["slug"], "unnamed");
    });

    it("compute a monster's values from its effects", async () => {
      const { attributes, damage_reductions, abilities, ...row } = await read(
        "/monsters/id.monster.imp_elite",
      );
      assert.deepEqual(attributes, {
        str: 11,
        dex: null,
        agi: null,
        will: null,
        knw: null,
        rsc: null,
        vig: null,
      });
      assert.deepEqual(damage_reductions, { fire: -3000, physical: 250, projectile: 15 });
      assert.deepEqual(abilities, ["id.monster_ability.bite"]);
      assert.deepEqual(
        [row["archetype"], row["hp"], row["class_type"], row["grade_type"]],
        ["id.monster.imp", 140, "normal_mobs", "elite"],
      );
      const [listed] = await rowsOf("/monsters");
      assert.ok(listed && !("abilities" in listed) && listed["hp"] === 140);
    });
  });
  describe("show quests, shops and places", () => {
    it("combine a quest with its objectives and rewards, in lists and in single reads", async () => {
      const quest = await read("/quests/id.quest.smith_01");
      const blank = { target_archetype: null, target_tag: null, rarity: null, item_type: null };
      assert.deepEqual(quest["objectives"], [
        {
          ...blank,
          id: "id.quest_content.smith_01_a",
          content_type: "kill",
          content_count: 3,
          target_kind: "monster",
          target_archetype: "id.monster.living_armor",
          dungeon_tags: ["id.dungeon.crypts"],
        },
        {
          ...blank,
          id: "id.quest_content.smith_01_b",
          content_type: "fetch",
          content_count: 1,
          target_kind: "item",
          target_tag: "Type.Item.Misc.Ore",
          dungeon_tags: [],
          rarity: "legend",
        },
      ]);
      assert.deepEqual(quest["rewards"], [
        {
          id: "id.quest_reward.smith_01",
          entries: [
            { type: "item", count: 2, item_id: "id.item.boots" },
            { type: "experience", count: 50 },
            { type: "random", count: 1, random_reward_id: "id.random_reward.armor_01" },
            { type: "affinity", count: 10, merchant_id: null },
            { type: "action", count: 1, action_skin_id: "id.action_skin.bow" },
            { type: "none", count: 1 },
            { type: "mount", count: 1, mount_id: "id.mount.goat", stable_id: "id.stable.one" },
          ],
        },
      ]);
      const [listed, daily] = await rowsOf("/quests");
      assert.deepEqual(listed, quest);
      assert.deepEqual(
        [daily?.["chapter_id"], daily?.["is_daily"], daily?.["is_repeatable"], daily?.["rewards"]],
        ["id.quest.smith_01", true, true, []],
      );
      const [dance] = (daily?.["objectives"] ?? []) as Body[];
      assert.deepEqual([dance?.["content_type"], dance?.["target_kind"]], ["dance", null]);
    });

    it("give a spawner at most one reference", async () => {
      const shown = (await rowsOf("/spawners")).map((row) => [
        row["id"],
        row["spawner_type"],
        row["monster_id"],
        row["loot_drop_group_id"],
      ]);
      assert.deepEqual(shown, [
        ["id.spawner.barrel", "props", null, null],
        ["id.spawner.chest", "treasure", null, "id.loot_drop_group.imp"],
        ["id.spawner.imp", "monster", "id.monster.imp_elite", null],
        ["id.spawner.nothing", "empty", null, null],
      ]);
    });

    it("merge the stock of a shop, and include a bargain's monster and skills", async () => {
      const { stock } = await read("/shops/id.shop.smith");
      const shown = (stock as Body[]).map(({ payload, ...entry }) => [
        ...Object.values(entry),
        (payload as Body)["item_skin_id"] ?? null,
      ]);
      assert.deepEqual(shown, [
        ["item", "id.item.boots", 1, 12, "id.item.unnamed", 3, null],
        ["item_skin", null, 1, null, null, null, "id.item_skin.hat"],
      ]);
      const bargain = await read("/faustian_bargains/id.faustian_bargain.imp");
      const { monster, skills, required_affinity } = bargain["payload"] as Body;
      assert.deepEqual([bargain["tier"], required_affinity], [2, 2]);
      assert.equal(((monster as Body)["data"] as Body)["exp_point"], 12);
      assert.deepEqual(
        (skills as Body[]).map(({ id, type, data }) => [id, type, data !== null]),
        [
          ["id.skill.sprint", "skill", true],
          ["id.skill.lost", null, false],
        ],
      );
    });

    it("show dungeons, loot, workshops and ranks", async () => {
      const pick = async (path: string, ...names: string[]) => {
        const row = await read(path);
        return names.map((name) => row[name]);
      };
      assert.deepEqual(await pick("/dungeon_card/id.dungeon_card.trio", "mode", "party_size"), [
        "high_roller",
        3,
      ]);
      assert.deepEqual(await pick("/dungeon_grade/id.dungeon_grade.crypts_3", "tier"), [3]);
      assert.deepEqual(await pick("/dungeon_grade/id.dungeon_grade.crypts_normal", "tier"), [1]);
      assert.deepEqual(
        await pick("/triumph/id.triumph.level_12", "tier", "xp_requirement"),
        [12, 900],
      );
      assert.deepEqual(await pick("/loot_drop/id.loot_drop.imp", "items"), [
        [{ item_id: "id.item.boots", count: 1, luck_grade: 4 }],
      ]);
      assert.deepEqual(await pick("/loot_drop_rate/id.loot_drop_rate.imp", "params"), [
        [{ drop_rate: 6750, luck_grade: 4 }],
      ]);
      assert.deepEqual(await pick("/loot_drop_group/id.loot_drop_group.imp", "entries"), [
        [
          {
            loot_drop_id: "id.loot_drop.imp",
            loot_drop_rate_id: "id.loot_drop_rate.imp",
            count: 1,
            dungeon_grade: 2,
          },
        ],
      ]);
      const service = "/workshop_service/id.workshop_service.forge_craft";
      assert.deepEqual(await pick(service, "service_type", "inputs", "outputs", "cost"), [
        "craft",
        [{ item_id: "id.item.unnamed", count: 2 }],
        [{ item_id: "id.item.boots", count: 1 }],
        5,
      ]);
      assert.deepEqual(await pick("/merchant/id.merchant.smith", "service_types"), [
        ["buy", "sell_back"],
      ]);
    });
  });
  describe("follow the rules of the archive", () => {
    it("label the slugs in use, grouping columns of the same name", async () => {
      const facets = (await read("/facets?locale=pt-br")) as Record<string, Body>;
      assert.deepEqual(facets["rarity"], { legend: "Lendário", mythic: "Mythic" });
      assert.deepEqual(facets["spawner_type"], {
        empty: "Empty",
        monster: "Monster",
        props: "Things",
        treasure: "Treasure",
      });
      assert.deepEqual(facets["hand_type"], { two_handed: "Two Handed" });
      assert.deepEqual(Object.keys(facets), [...Object.keys(facets)].sort());
    });

    it("send the same body and ETag on both base paths, in the plural and in the singular", async () => {
      const realm = "/v1/realms/gamedata";
      const equal = [["/v2/facets?locale=de", `${realm}/facets?locale=de`]];
      for (const { type, path } of resources) {
        const [id] = await idsOf(`/${path}`);
        equal.push([`/v2/${path}?sort=desc`, `${realm}/${path}?sort=desc`]);
        for (const query of ["", `?at_patch=${version}`])
          equal.push(
            [`/v2/${path}`, `${realm}/${path}`, `/v2/${type}`, `${realm}/${type}`].map(
              (place) => `${place}/${id}${query}`,
            ),
          );
      }
      for (const same of equal) {
        const answers = await Promise.all(same.map((place) => app.client.get(place)));
        const bodies = answers.map(({ text }) => text.slice(text.indexOf('"body":')));
        const tags = answers.map(({ headers }) => headers.get("etag"));
        assert.ok(
          answers.every(({ status }) => status === 200),
          same[0],
        );
        assert.deepEqual([new Set(bodies).size, new Set(tags).size], [1, 1], same[0]);
        assert.ok(answers.every(({ headers }) => headers.get("vary")?.includes("Accept-Encoding")));
      }
      const { headers } = await app.client.get("/v2/items");
      const again = await app.client.get("/v2/items", {
        headers: { "If-None-Match": headers.get("etag") ?? "" },
      });
      assert.equal(again.status, 304);
      assert.equal(headers.get("cache-control"), "public, max-age=60");
    });

    it("refuse an unknown id, an id of another type, and an unknown patch", async () => {
      await refused("/v2/items/id.item.nothing", 404, "projection:not_found");
      await refused("/v2/items/id.monster.imp_elite", 404, "projection:type_mismatch");
      await refused("/v2/items/Id_item_boots", 404, "projection:type_mismatch");
      await refused("/v2/items/id.item.%00", 404, "projection:type_mismatch");
      await refused("/v2/items/id.item.boots?at_patch=9.9", 404, "codex:patch_not_found");
      await refused("/v2/item/id.item.nothing?at_patch=0.1.2.8542-7", 404, "projection:not_found");
      await refused("/v2/items?at_patch=0.1.2.8542-7", 400, "projection:at_patch_on_list");
      await refused("/v2/facets?at_patch=1", 400, "projection:at_patch_on_list");
      await refused("/v1/realms/default/items", 404, "route:not_found");
      await refused("/v1/realms/default/facets", 404, "route:not_found");
      assert.equal((await app.client.get("/v2/weathers")).status, 404);
      for (const { type, path } of resources)
        if (type !== path) await refused(`/v2/${type}`, 404, "route:not_found");
      assert.equal((await app.client.get("/v1/realms/gamedata")).status, 200);
      await refused("/v1/realms/gamedata/branding", 404, "realm:branding_missing");
      await refused("/v1/realms/gamedata/keys", 401, "auth:required");
    });

    it("return the same at the head patch as without a patch", async () => {
      for (const version of ["0.1.2.8542-7", "0.1.2+build.8542.7"])
        assert.deepEqual(
          await read(`/quest/id.quest.smith_01?at_patch=${version}&locale=de`),
          await read("/quest/id.quest.smith_01?locale=de"),
        );
    });

    it("change their ETag with every import, even if the rows do not change", async () => {
      const places = ["/v2/items", "/v2/item/id.item.boots", "/v2/facets"];
      const readAll = () => Promise.all(places.map((place) => app.client.get(place)));
      const before = await readAll();
      await load("0.1.3", illustrated());
      for (const [at, answer] of (await readAll()).entries()) {
        assert.deepEqual(answer.body, before[at]?.body);
        const etag = before[at]?.headers.get("etag") ?? "";
        assert.notEqual(answer.headers.get("etag"), etag);
        const known = { "if-none-match": etag };
        assert.equal((await app.client.get(places[at] ?? "", { headers: known })).status, 200);
      }
    });

    it("omit a name that has no slug", async () => {
      const odd = made("item", "odd_1001", {
        id_tag: "Id.Item.日本",
        required_classes: ["Fighter", "id.class.", "id.class.fighter"],
      });
      await load("0.1.4", [...illustrated(), odd]);
      const { archetype, required_class } = await read("/item/id.item.odd_1001");
      assert.deepEqual([archetype, required_class], ["id.item.odd", ["fighter"]]);
    });

    it("name the slot of boots as the documentation does", async () => {
      assert.equal((await read("/item/id.item.boots"))["slot_type"], "feet");
      assert.deepEqual(await idsOf("/items?slot_type=feet"), ["id.item.boots"]);
    });
  });
});
