import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { Adapter, ImportTarget } from "../../../importers/adapters/adapter.ts";
import { dota } from "../../../importers/adapters/dota/adapter.ts";
import { minecraft } from "../../../importers/adapters/minecraft/adapter.ts";
import { contentHash } from "../../../importers/envelope/canonical.ts";
import { ImportRefused, type SourceEntity } from "../../../importers/envelope/contract.ts";

const folder = mkdtempSync(join(tmpdir(), "ember-adapter-"));

function write(path: string, content: unknown): void {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
}

const nothing: ImportTarget = { game: "any", knownIds: async () => new Map() };

interface Patch {
  version: string;
  canonical: string | undefined;
  assets: string[];
  entities: Map<string, SourceEntity>;
}

async function readAll(adapter: Adapter, path: string): Promise<Patch[]> {
  const patches: Patch[] = [];
  for await (const envelope of adapter.read(join(folder, path), nothing)) {
    const entities = new Map<string, SourceEntity>();
    for await (const entity of envelope.entities()) entities.set(entity.id ?? "", entity);
    const { version_raw: version, canonical } = envelope.header.patch;
    const assets = envelope.assets.map((asset) => asset.path);
    patches.push({ version, canonical, assets, entities });
  }
  return patches;
}

/** Ids of entities that differ between two patches. */
function changes(before: Patch | undefined, after: Patch | undefined): string[] {
  const ids = new Set([...(before?.entities.keys() ?? []), ...(after?.entities.keys() ?? [])]);
  return [...ids].filter(
    (id) =>
      contentHash(before?.entities.get(id) ?? null) !==
      contentHash(after?.entities.get(id) ?? null),
  );
}

describe("public packages", () => {
  after(() => rmSync(folder, { recursive: true, force: true }));

  describe("the releases of minecraft-data", () => {
    const data = "mc/node_modules/minecraft-data/minecraft-data/data";
    /** The same entities under the numbers of another release. */
    const release = (name: string, first: number, hardness: number) => {
      const pick = { id: first, name: "iron_pickaxe", displayName: "Iron Pickaxe", stackSize: 1 };
      const stone = { id: first + 1, name: "stone", displayName: "Stone", stackSize: 64 };
      const apple = { id: first + 2, name: "apple", displayName: "Apple", stackSize: 64 };
      write(`${data}/pc/${name}/items.json`, [
        { ...pick, maxDurability: 250, enchantCategories: ["digger"] },
        stone,
        apple,
      ]);
      write(`${data}/pc/${name}/foods.json`, [{ ...apple, foodPoints: 4 }]);
      write(`${data}/pc/${name}/blocks.json`, [
        {
          ...stone,
          id: first + 7,
          hardness,
          diggable: true,
          material: "mineable/pickaxe",
          minStateId: first,
          maxStateId: first,
          defaultState: first,
          harvestTools: { [first]: true },
          drops: [first + 1],
        },
      ]);
      write(`${data}/pc/${name}/recipes.json`, {
        [first + 1]: [
          { ingredients: [first + 2, first + 2], result: { id: first + 1, count: 1 } },
          { inShape: [[first + 2, null]], result: { id: first + 1, count: 2 } },
        ],
      });
    };
    let patches: Patch[];

    before(async () => {
      release("1.9", 100, 1.5);
      release("1.10", 500, 1.5);
      release("1.11", 900, 2);
      write(`${data}/pc/1.9/entities.json`, [
        { id: 1, name: "PolarBear", type: "mob", category: "Passive" },
      ]);
      write(`${data}/pc/1.11/entities.json`, [
        { id: 9, name: "polar_bear", type: "mob", category: "Passive" },
      ]);
      write(`${data}/pc/1.11/language.json`, {
        "item.minecraft.apple": "Red Apple",
        "menu.quit": "Quit",
      });
      const folders = (name: string, rest: Record<string, string> = {}) => ({
        ...Object.fromEntries(
          ["items", "blocks", "foods", "recipes"].map((one) => [one, `pc/${name}`]),
        ),
        entities: "pc/1.9",
        ...rest,
      });
      write(`${data}/dataPaths.json`, {
        pc: {
          "1.11": folders("1.11", { entities: "pc/1.11", language: "pc/1.11" }),
          "1.9": folders("1.9"),
          "1.10": folders("1.10"),
          "1.10.1": folders("1.10"),
          "16w20a": folders("1.10"),
          "1.8": { items: "pc/1.9" },
        },
      });
      const pictures = "mc/node_modules/minecraft-assets/minecraft-assets/data";
      for (const name of ["apple", "iron_pickaxe"])
        write(`${pictures}/1.10/items/${name}.png`, name);
      write(`${pictures}/1.10/blocks/stone.png`, "stone");
      write(`${pictures}/1.11/items/apple.png`, "red");
      patches = await readAll(minecraft, "mc");
    });

    it("are those with items and blocks, in numeric order, without snapshots", () => {
      assert.deepEqual(
        patches.map(({ version }) => version),
        ["1.9", "1.10", "1.10.1", "1.11"],
      );
    });

    it("use upstream names instead of upstream numbers, so renumbering changes nothing", () => {
      const [first, second, third] = patches;
      assert.deepEqual(changes(second, third), []);
      // Only pictures were added in between.
      assert.deepEqual(changes(first, second), [
        "id.item.iron_pickaxe",
        "id.item.stone",
        "id.item.apple",
        "id.block.stone",
      ]);
      const block = first?.entities.get("id.block.stone");
      assert.deepEqual(block?.data, {
        stack_size: 64,
        hardness: 1.5,
        diggable: true,
        material: "mineable/pickaxe",
        drops: [{ item: "stone" }],
        harvest_tools: ["iron_pickaxe"],
      });
      assert.deepEqual(block.links, [{ rel: "drop", target: "id.item.stone" }]);
      assert.deepEqual(first?.entities.get("id.recipe.stone")?.data["recipes"], [
        { in_shape: [["apple", null]], result: { item: "stone", count: 2 } },
        { ingredients: ["apple", "apple"], result: { item: "stone", count: 1 } },
      ]);
    });

    it("keep one entity under one id, whatever name a release uses", () => {
      const [first, , , last] = patches;
      assert.equal(first?.entities.get("id.entity.polar_bear")?.upstream_key, "entity/PolarBear");
      assert.equal(last?.entities.get("id.entity.polar_bear")?.upstream_key, "entity/polar_bear");
      assert.equal(last.entities.get("id.item.apple")?.name_key, "item.minecraft.apple");
      assert.deepEqual(last.entities.get("id.item.apple")?.tags, ["food"]);
    });

    it("show the pictures of the newest set that is not newer than the release", () => {
      const iconOf = (at: number) => patches[at]?.entities.get("id.item.apple")?.icon;
      assert.deepEqual([0, 1, 2, 3].map(iconOf), [
        null,
        "1.10/items/apple.png",
        "1.10/items/apple.png",
        "1.11/items/apple.png",
      ]);
      assert.deepEqual(patches[3]?.assets, ["1.11/items/apple.png"]);
      assert.equal(patches[1]?.entities.get("id.item.stone")?.icon, "1.10/blocks/stone.png");
    });

    it("are refused with a message when there are none", async () => {
      await assert.rejects(readAll(minecraft, "."), (error) => {
        assert.ok(error instanceof ImportRefused);
        assert.match(error.message, /has no minecraft-data package/);
        return true;
      });
    });
  });
  describe("versions of dotaconstants", () => {
    before(() => {
      for (const [name, notes, cost] of [
        ["new", ["7_06", "7_35b"], 6800],
        ["old", ["7_35"], 6750],
      ] as const) {
        const build = `dota/node_modules/${name}/build`;
        write(`dota/node_modules/${name}/package.json`, { name: "dotaconstants" });
        write(`${build}/patchnotes.json`, Object.fromEntries(notes.map((one) => [one, {}])));
        write(`${build}/patch.json`, [{ name: "7.35", date: "2023-12-14T16:07:43.429Z" }]);
        write(`${build}/heroes.json`, {
          1: {
            id: 1,
            name: "npc_dota_hero_antimage",
            localized_name: "Anti-Mage",
            roles: ["Carry"],
            primary_attr: "agi",
            img: `/antimage.png?t=${cost}`,
          },
        });
        write(`${build}/items.json`, {
          blink: { dname: "Blink Dagger", id: 1, cost: 2250, hint: ["Teleport."] },
          arcane_blink: {
            dname: "Arcane Blink",
            id: 4,
            cost,
            components: ["blink", "gone", "blink"],
          },
        });
        write(`${build}/abilities.json`, {
          antimage_blink: { dname: "Blink", desc: "Away.", behavior: "Point Target" },
        });
        write(`${build}/hero_abilities.json`, {
          npc_dota_hero_antimage: { abilities: ["antimage_blink", "hidden"] },
        });
        write(`${build}/hero_lore.json`, { antimage: "The monks of Turstarkuri watched." });
      }
      write("dota/node_modules/other/package.json", { name: "other" });
    });

    it("are one patch each, named after the newest notes, and differ where the game differs", async () => {
      const patches = await readAll(dota, "dota");
      assert.deepEqual(
        patches.map(({ version, canonical }) => [version, canonical]),
        [
          ["7.35", "7.35.0+build.0"],
          ["7.35b", "7.35.0+build.2"],
        ],
      );
      const [old, fresh] = patches;
      assert.deepEqual(changes(old, fresh), ["id.item.arcane_blink"]);
      const hero = fresh?.entities.get("id.hero.antimage");
      assert.equal(hero?.name, "Anti-Mage");
      assert.deepEqual(hero.links, [{ rel: "ability", target: "id.ability.antimage_blink" }]);
      assert.equal(hero.data["description"], "The monks of Turstarkuri watched.");
      assert.deepEqual(fresh?.entities.get("id.item.arcane_blink")?.links, [
        { rel: "component", target: "id.item.blink" },
      ]);
    });
  });
  describe("a file of a public package", () => {
    const deep = `${"[".repeat(5_000)}${"]".repeat(5_000)}`;
    const refused = async (adapter: Adapter, path: string, problem: RegExp) =>
      assert.rejects(readAll(adapter, path), (error) => {
        assert.ok(error instanceof ImportRefused, String(error));
        assert.match(error.message, problem);
        return true;
      });

    it("is named in the error when it is unreadable, and may begin with a byte order mark", async () => {
      const build = "odd-dota/node_modules/dota/build";
      write("odd-dota/node_modules/dota/package.json", `\ufeff{"name":"dotaconstants"}`);
      write(`${build}/patchnotes.json`, { "7_35": {} });
      await refused(dota, "odd-dota", /build\/patch\.json: is not there/);
      write(`${build}/patch.json`, "[");
      await refused(dota, "odd-dota", /build\/patch\.json: .*JSON/);
      write(`${build}/patch.json`, deep);
      await refused(dota, "odd-dota", /build\/patch\.json: is nested deeper than 128 levels/);
      const data = "odd-mc/node_modules/minecraft-data/minecraft-data/data";
      write(
        `${data}/dataPaths.json`,
        `\ufeff${JSON.stringify({ pc: { "1.8": { items: "a", blocks: "a" } } })}`,
      );
      write(`${data}/a/items.json`, deep);
      await refused(minecraft, "odd-mc", /a\/items\.json: is nested deeper than 128 levels/);
    });
  });
});
