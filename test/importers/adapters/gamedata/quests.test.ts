import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { project } from "../../../../db/projections/project.ts";
import { lootDrops, spawners } from "../../../../db/projections/resources/loot.ts";
import { quests } from "../../../../db/projections/resources/quests.ts";
import type { Resource } from "../../../../db/projections/resource.ts";
import { noRequiredInputs, type Source } from "../../../../db/projections/source.ts";
import { readExports } from "../../../../importers/adapters/gamedata/adapter.ts";
import type { SourceEntity } from "../../../../importers/envelope/contract.ts";

type Files = Readonly<Record<string, object>>;

/** Entities of an export whose files hold these properties. */
async function read(files: Files): Promise<Map<string, SourceEntity>> {
  const contents = new Map(
    Object.entries(files).map(([path, Properties]) => [
      `main/1.0/Data/Generated/V2/${path}.json`,
      JSON.stringify([{ Type: "DCDataAsset", Name: path.split("/").at(-1), Properties }]),
    ]),
  );
  const tree = {
    paths: async () => [...contents.keys()].sort(),
    read: async (path: string) => Buffer.from(contents.get(path) ?? ""),
  };
  const entities = new Map<string, SourceEntity>();
  const target = { game: "gamedata", knownIds: async () => new Map<string, string>() };
  for await (const envelope of readExports(tree, target))
    for await (const entity of envelope.entities()) entities.set(entity.id ?? "", entity);
  return entities;
}

/** The row of an entity, from the entities of an export. */
function rowOf(resource: Resource, id: string, entities: ReadonlyMap<string, SourceEntity>) {
  const sources = new Map(
    [...entities].map(([key, { type, data, upstream_key: upstreamKey }]): [string, Source] => [
      key,
      { id: key, type, upstreamKey, hash: "x", version: "1", ord: 1, data, iconHash: null },
    ]),
  );
  const source = sources.get(id);
  assert.ok(source, `${id} of ${[...entities.keys()].join(" ")}`);
  const sourceSet = { entities: sources, texts: { get: () => null }, icons: new Map() };
  return project(resource, source, sourceSet, noRequiredInputs()).row;
}

const content = (kind: string, name: string) => `Quest/QuestContent${kind}/${name}`;
const game: Files = {
  "Item/Item/Id_Item_GoldCoins": {},
  "Merchant/Merchant/Id_Merchant_Alchemist": {},
  "Quest/Quest/Id_Quest_Alchemist_01": {
    QuestContents: ["Id_QuestContent_Kill_A", "Id_QuestContent_Fetch_A"],
    QuestReward: "Id_QuestReward_Alchemist_01",
  },
  "Quest/QuestReward/Id_QuestReward_Alchemist_01": {
    RewardItemArray: [
      { RewardType: "EQuestRewardType::Item", RewardId: "Id_Item_GoldCoins", RewardCount: 25 },
      { RewardType: "EQuestRewardType::Item", RewardId: "DesignDataItem:id_item_GoldCoins" },
      {
        RewardType: "EQuestRewardType::Random",
        RewardId: "Id_RandomReward_QuestArmor_Uncommon_01",
        ItemRarity: { TagName: "Type.Item.Rarity.Legendary" },
        ItemType: "EItemType::Armor",
      },
      { RewardType: "EQuestRewardType::Affinity", RewardId: "Id_Merchant_Alchemist" },
      { RewardType: "EQuestRewardType::Exp", RewardId: "None", RewardCount: 50 },
    ],
  },
  [content("Kill", "Id_QuestContent_Kill_A")]: {
    KillTag: { TagName: "Type.Monster.Character.Undead" },
    TypeTag: { TagName: "Type.Monster.Character.Undead" },
  },
  [content("Fetch", "Id_QuestContent_Fetch_A")]: {
    ItemType: "EItemType::Weapon",
    ItemRarity: "EItemRarity::Rare",
  },
  "Monster/Monster/Id_Monster_Skeleton_01": {
    IdTag: { TagName: "Id.Monster.Skeleton" },
    CharacterTypes: [{ TagName: "Type.Monster.Character.Undead" }],
  },
  "Monster/Monster/Id_Monster_Ghoul_01": {
    CharacterTypes: [{ TagName: "Type.Monster.Character.Undead" }],
  },
};

const objectivesOf = (id: string, entities: ReadonlyMap<string, SourceEntity>) =>
  rowOf(quests, id, entities)["objectives"] as Record<string, unknown>[];

describe("the quests of an export", () => {
  it("resolve rewards to entity ids, even from plain text", async () => {
    const entities = await read(game);
    const [reward] = rowOf(quests, "id.quest.alchemist_01", entities)["rewards"] as {
      entries: unknown[];
    }[];
    assert.deepEqual(reward?.entries, [
      { type: "item", count: 25, item_id: "id.item.gold_coins" },
      { type: "item", count: 1, item_id: "id.item.gold_coins" },
      {
        type: "random",
        count: 1,
        random_reward_id: "id.random_reward.quest_armor_uncommon_01",
        rarity: "legend",
        item_type: "armor",
      },
      { type: "affinity", count: 1, merchant_id: "id.merchant.alchemist" },
      { type: "experience", count: 50 },
    ]);
    const { links } = entities.get("id.quest_reward.alchemist_01") ?? {};
    assert.ok(links?.some(({ target }) => target === "id.merchant.alchemist"));
  });

  it("resolve rewards to the ids named by a tag, a path or a quoted asset", async () => {
    const path = "/Game/Data/Generated/V2/Item/Item/Id_Item_GoldCoins.Id_Item_GoldCoins";
    const ids = [{ TagName: "Id.Item.GoldCoins" }, "Id.Item.GoldCoins", path];
    const others = [`DCItemDataAsset'${path}'`, "DCItemDataAsset'Id_Item_GoldCoins'"];
    const name = "Quest/QuestReward/Id_QuestReward_Alchemist_01";
    const given = [...ids, ...others].map((RewardId) => ({
      RewardType: "EQuestRewardType::Item",
      RewardId,
    }));
    const entities = await read({ ...game, [name]: { RewardItemArray: given } });
    const [reward] = rowOf(quests, "id.quest.alchemist_01", entities)["rewards"] as {
      entries: unknown[];
    }[];
    const coins = { type: "item", count: 1, item_id: "id.item.gold_coins" };
    assert.deepEqual(
      reward?.entries,
      given.map(() => coins),
    );
    const { tags } = entities.get("id.quest_reward.alchemist_01") ?? {};
    assert.deepEqual(tags, []);
  });

  it("show the monsters that a tag refers to, and the rarity of items to fetch", async () => {
    const [kill, fetch] = objectivesOf("id.quest.alchemist_01", await read(game));
    assert.deepEqual(
      [kill?.["target_kind"], kill?.["target_tag"], kill?.["target_archetypes"]],
      ["monster", "Type.Monster.Character.Undead", ["id.monster.ghoul", "id.monster.skeleton"]],
    );
    assert.deepEqual([fetch?.["rarity"], fetch?.["item_type"]], ["rare", "weapon"]);
    const { "Monster/Monster/Id_Monster_Ghoul_01": _ghoul, ...single } = game;
    const [one] = objectivesOf("id.quest.alchemist_01", await read(single));
    assert.deepEqual(
      [one?.["target_archetype"], one?.["target_archetypes"]],
      ["id.monster.skeleton", undefined],
    );
  });

  it("never read the tag of a kill as an item", async () => {
    const [kill] = objectivesOf(
      "id.quest.alchemist_01",
      await read({
        ...game,
        [content("Kill", "Id_QuestContent_Kill_A")]: {
          TypeTag: { TagName: "Type.Monster.Character.Undead" },
        },
      }),
    );
    assert.deepEqual(
      [kill?.["target_kind"], kill?.["target_tag"]],
      ["monster", "Type.Monster.Character.Undead"],
    );
  });

  it("find their contents in any location and in either direction of reference", async () => {
    const kill = { KillTag: { TagName: "Id.Monster.Skeleton" } };
    const ref = { ObjectName: "DCQuestContentKillDataAsset'Id_QuestContent_Kill_A'" };
    const quest = "Quest/Quest/Id_Quest_Smith_01";
    const forms: Files[] = [
      { [quest]: { QuestContents: [{ Content: ref, Order: 1 }] } },
      { [quest]: { QuestContents: ["DesignDataQuestContentKill:Id_QuestContent_Kill_A"] } },
      {
        [quest]: { QuestContents: ["Id_QuestContents_Smith"] },
        "Quest/QuestContents/Id_QuestContents_Smith": { QuestContents: [ref] },
      },
    ];
    for (const files of forms)
      for (const folder of ["Quest/QuestContentKill", "Quest/QuestContent/QuestContentKill"]) {
        const entities = await read({ ...files, [`${folder}/Id_QuestContent_Kill_A`]: kill });
        const [only, ...others] = objectivesOf("id.quest.smith_01", entities);
        assert.deepEqual(
          [only?.["content_type"], only?.["target_archetype"], others],
          ["kill", "id.monster.skeleton", []],
          JSON.stringify(files),
        );
        assert.ok(String(only?.["id"]).startsWith("id.quest_content."));
      }
    const named = await read({
      [quest]: {},
      "Quest/QuestReward/Id_QuestReward_Smith_01": { RewardItemArray: [] },
      [content("Kill", "Id_QuestContent_Smith_01_2")]: kill,
      [content("Fetch", "Id_QuestContent_Smith_01_1")]: {},
      [content("Fetch", "Id_QuestContent_Smith_02_1")]: {},
    });
    const { data } = named.get("id.quest.smith_01") ?? {};
    assert.equal(data?.["quest_reward"], "id.quest_reward.smith_01");
    assert.equal(objectivesOf("id.quest.smith_01", named).length, 2);
    const row = await read({
      [quest]: {},
      [content("Kill", "Id_QuestContent_Other")]: { ...kill, QuestId: "Id_Quest_Smith_01" },
    });
    assert.equal(objectivesOf("id.quest.smith_01", row).length, 1);
  });

  it("are not the only entities that may name assets in plain text", async () => {
    const entities = await read({
      ...game,
      "LootDrop/LootDrop/ID_Lootdrop_Chest": {
        LootDropItemArray: [{ ItemId: "Id_Item_GoldCoins", ItemCount: 3 }],
      },
      "Spawner/Spawner/Id_Spawner_Undead": {
        SpawnerItemArray: [{ MonsterId: "Id_Monster_Ghoul_01" }],
        Note: "Identity_of_nobody",
      },
    });
    const drop = [...entities.keys()].find((id) => id.startsWith("id.loot_drop.")) ?? "";
    assert.deepEqual(rowOf(lootDrops, drop, entities)["items"], [
      { item_id: "id.item.gold_coins", count: 3, luck_grade: 0 },
    ]);
    const spawner = "id.spawner.undead";
    assert.equal(rowOf(spawners, spawner, entities)["monster_id"], "id.monster.ghoul_01");
    assert.equal(entities.get(spawner)?.data["note"], "Identity_of_nobody");
  });
});
