import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { idOfUpstreamKey, typeOfId } from "../../../importers/envelope/entity-id.ts";

describe("the id of an entity", () => {
  it("is made from an upstream key, without its wrapper and its type", () => {
    const cases: [key: string, type: string, id: string][] = [
      ["Id_Item_FrostAmulet_6001", "item", "id.item.frost_amulet_6001"],
      ["DesignDataItem:Id_Item_FrostAmulet_6001", "item", "id.item.frost_amulet_6001"],
      ["Id_LootDropGroup_Imp", "loot_drop_group", "id.loot_drop_group.imp"],
      ["Torch", "item", "id.item.torch"],
      ["Id_Monster_Imp", "item", "id.item.monster_imp"],
      ["Id_Itemized_List", "item", "id.item.itemized_list"],
    ];
    for (const [key, type, id] of cases) assert.equal(idOfUpstreamKey(key, type), id, key);
  });

  it("states its type when it is valid", () => {
    assert.equal(typeOfId("id.loot_drop.imp-2.Old"), "loot_drop");
    assert.equal(typeOfId(`id.item.${"x".repeat(247)}`), "item");
    for (const id of [
      "id.item",
      "id.item.",
      "id.Item.a",
      "id.item.a b",
      "item.a",
      "",
      `id.item.${"x".repeat(248)}`,
    ])
      assert.equal(typeOfId(id), null, id);
  });
});
