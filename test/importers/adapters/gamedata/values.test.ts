import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createNames } from "../../../../importers/adapters/gamedata/names.ts";
import {
  convertFields,
  textKey,
  type ConvertedFields,
} from "../../../../importers/adapters/gamedata/values.ts";

/** Converts properties of an asset in a game that has a torch; returns data and by-products. */
function convert(properties: Record<string, unknown>) {
  const names = createNames();
  names.add([{ name: "Id_Item_Torch", folder: "Item/Item", idTag: null }]);
  const found: ConvertedFields = { links: [], tags: [] };
  const sources = new Map<string, string>();
  const context = {
    names,
    mainNamespace: "DC",
    addSource: (key: string, text: string) => void sources.set(key, text),
  };
  return { data: convertFields(properties, {}, context, found), ...found, sources };
}

describe("upstream properties", () => {
  it("resolve to an entity, in whatever form they name it", () => {
    const torch = "id.item.torch";
    const forms: unknown[] = [
      { AssetPathName: "/Game/Data/Generated/V2/Item/Item/Id_Item_Torch.Id_Item_Torch" },
      { ObjectName: "DCItemDataAsset'Id_Item_Torch'", ObjectPath: "/Game/x.0" },
      { ObjectName: "DCItemDataAsset'Somewhere:ID_item_TORCH'" },
      { ObjectName: "Id_Item_Torch" },
      { PrimaryAssetType: { Name: "DesignDataItem" }, PrimaryAssetName: "Id_Item_Torch" },
      { PrimaryAssetType: "DesignDataItem", PrimaryAssetName: "DesignDataItem:id_item_torch" },
    ];
    for (const form of forms) {
      const { data, links } = convert({ RequiredItem: form });
      assert.deepEqual(data, { required_item: torch }, JSON.stringify(form));
      assert.deepEqual(links, [{ rel: "required_item", target: torch }]);
    }
    const unknown = convert({ Monster: { ObjectName: "DCMonsterDataAsset'Id_Monster_Imp_01'" } });
    assert.deepEqual(unknown.data, { monster: "id.monster.imp_01" });
  });

  it("convert to nothing where upstream names nothing", () => {
    for (const nothing of [null, "", "None", { AssetPathName: "None" }, { ObjectName: "" }]) {
      const { data, links } = convert({ Item: nothing });
      assert.deepEqual([data, links], [{}, []], JSON.stringify(nothing));
    }
  });

  it("refer to texts by their key, and include the text they contain themselves", () => {
    const { data, sources } = convert({
      Name: { Namespace: "DC", Key: "Text_Torch", SourceString: "Torch" },
      Desc: { Key: "Text_Torch_Desc", SourceString: "Burns." },
      Flavor: { Namespace: "Other", Key: "Text_Torch" },
      Note: { Namespace: "", Key: "Text_Torch" },
      Empty: { Namespace: "", Key: "", SourceString: "" },
    });
    assert.deepEqual(data, {
      name: "Text_Torch",
      desc: "Text_Torch_Desc",
      flavor: "Other/Text_Torch",
      note: textKey("", "Text_Torch", "DC"),
    });
    assert.deepEqual(Object.fromEntries(sources), {
      Text_Torch: "Torch",
      Text_Torch_Desc: "Burns.",
    });
  });

  it("keep tags, lists, keys that differ in case only, and unknown properties", () => {
    const { data, tags } = convert({
      IdTag: { TagName: "Id.Item.Torch" },
      Rarity: { TagName: "Type.Item.Rarity.Rare" },
      Levels: [{ Xp: 5, Item: "None" }, null],
      gearScore: 1,
      GearScore: 2,
      ["__proto__"]: { Wet: true },
    });
    assert.deepEqual(tags, ["Type.Item.Rarity.Rare"]);
    assert.equal(
      JSON.stringify(data),
      JSON.stringify({
        id_tag: "Id.Item.Torch",
        rarity: "Type.Item.Rarity.Rare",
        levels: [{ xp: 5 }],
        gear_score: 1,
        GearScore: 2,
        proto: { wet: true },
      }),
    );
  });
});
