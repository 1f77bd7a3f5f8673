import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { adapters } from "../../../importers/adapters/index.ts";
import { maxListedKeys, snakeNames } from "../../../importers/envelope/kept-keys.ts";
import type { ImportEnvelope, SourceEntity } from "../../../importers/envelope/contract.ts";
import { runImport } from "../../../importers/pipeline/import.ts";
import { formatReport } from "../../../importers/pipeline/plan/format-plan.ts";
import { reportOf } from "../../../importers/pipeline/plan/import-plan.ts";
import { entity, envelope, importTime, startArchive, type Archive } from "../../support/archive.ts";

/** Members of upstream, and what the archive stores for them. */
const pairs: readonly (readonly [Record<string, unknown>, Record<string, unknown>])[] = [
  [
    { Fire: 11, fire: 22 },
    { Fire: 11, fire: 22 },
  ],
  [
    { fire: 22, Fire: 11 },
    { fire: 22, Fire: 11 },
  ],
  [
    { MaxHP: 1, max_hp: 2 },
    { MaxHP: 1, max_hp: 2 },
  ],
  [
    { "A-B": 3, a_b: 4, "a b": 5 },
    { "A-B": 3, a_b: 4, "a b": 5 },
  ],
  [
    { gearScore: 1, GearScore: 2 },
    { gear_score: 1, GearScore: 2 },
  ],
  [{ MaxHP: { Fire: 1, fire: 2 } }, { max_hp: { Fire: 1, fire: 2 } }],
  [{ List: [{ "A-B": 3, a_b: 4 }] }, { list: [{ "A-B": 3, a_b: 4 }] }],
  [
    { 火: 1, 火火: 2, "": 3 },
    { 火: 1, 火火: 2, "": 3 },
  ],
];

const upstream = Object.fromEntries(pairs.map(([members], at) => [`Part${at}`, members]));
const stored = Object.fromEntries(pairs.map(([, members], at) => [`part${at}`, members]));

describe("keys that are the same in snake case", () => {
  const folder = mkdtempSync(join(tmpdir(), "ember-keys-"));
  const write = (path: string, content: unknown) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), JSON.stringify(content));
  };
  before(() => {
    const minecraft = "minecraft/minecraft-data/data";
    write(`${minecraft}/dataPaths.json`, { pc: { "1.9": { items: "a", blocks: "a" } } });
    write(`${minecraft}/a/items.json`, [{ id: 1, name: "torch", ...upstream }]);
    write(`${minecraft}/a/blocks.json`, []);
    const dota = "dota/dotaconstants";
    write(`${dota}/package.json`, { name: "dotaconstants" });
    write(`${dota}/build/patchnotes.json`, { "7_35": {} });
    write(`${dota}/build/patch.json`, []);
    for (const name of ["heroes", "abilities", "hero_abilities", "hero_lore"])
      write(`${dota}/build/${name}.json`, {});
    write(`${dota}/build/items.json`, { torch: upstream });
    const asset = [{ Type: "DCItemDataAsset", Name: "Id_Item_Torch", Properties: upstream }];
    write("gamedata/main/1.0/Data/Generated/V2/Item/Item/Id_Item_Torch.json", asset);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it("leave the name to the one that is spelled so, and lose nothing, in every adapter", async () => {
    assert.deepEqual(adapters.map(({ game }) => game).sort(), ["dota", "gamedata", "minecraft"]);
    for (const adapter of adapters) {
      const target = { game: adapter.game, knownIds: async () => new Map<string, string>() };
      const found: SourceEntity[] = [];
      for await (const one of adapter.read(join(folder, adapter.game), target)) {
        assert.ok(one.hasSnakeKeys, adapter.game);
        for await (const each of one.entities()) found.push(each);
      }
      const [torch] = found;
      assert.deepEqual([found.length, torch?.data], [1, stored], adapter.game);
    }
  });

  it("each get one name, for any keys", () => {
    const parts = ["a", "A", "b", "B", "_", "-", " ", "1", "é"];
    for (let seed = 1; seed < 4_000; seed++) {
      const keys = [
        ...new Set(Array.from({ length: 6 }, (_, at) => wordOf(seed * 31 + at, parts))),
      ];
      const names = snakeNames(keys);
      assert.equal(new Set(names).size, keys.length, JSON.stringify([keys, names]));
    }
  });
});

/** A word of up to three parts. */
function wordOf(seed: number, parts: readonly string[]): string {
  const [one = 0, two = 0, three = 0] = [seed, seed >> 3, seed >> 5].map((n) => n % parts.length);
  return [one, two, three]
    .slice(0, 1 + (seed % 3))
    .map((at) => parts[at])
    .join("");
}

describe("an import with keys that kept their spelling", () => {
  let archive: Archive;
  let games = 0;
  before(async () => (archive = await startArchive()));
  after(() => archive.stop());

  const torch = (data: Record<string, unknown>) => entity("id.item.torch", { data });
  const lost = torch({ fire: 22, deep: [{ a_b: 4, "a b": 5 }] });
  const whole = torch({ Fire: 11, fire: 22, deep: [{ "A-B": 3, a_b: 4, "a b": 5 }] });

  const run = async (
    game: string,
    version: string,
    entities: readonly SourceEntity[],
    more: Partial<ImportEnvelope> = {},
  ) => {
    const source = { ...envelope({ game, version, entities }), hasSnakeKeys: true, ...more };
    return reportOf(await runImport(archive.orm.em.fork(), source, { now: importTime }));
  };
  const ofChange = ({ changed, unchanged, moved = 0 }: Awaited<ReturnType<typeof run>>) => ({
    changed,
    unchanged,
    moved,
  });

  it("names them, up to a bound", async () => {
    const game = `keys-${++games}`;
    const report = await run(game, "1.0", [whole]);
    assert.deepEqual(report.kept, {
      keys: ["Fire", "deep[0].A-B", "deep[0].a b"].map((key) => `id.item.torch data.${key}`),
      omitted: 0,
    });
    const [first] = formatReport(report).split("\n");
    assert.equal(
      first,
      "  id.item.torch data.Fire keeps its spelling: another key is the same in snake case",
    );
    const many = Array.from({ length: maxListedKeys + 7 }, (_, n) => [
      [`Key${n}`, 1],
      [`key${n}`, 2],
    ]).flat();
    const wide = torch({ ...Object.fromEntries(many), ["X".repeat(10_000)]: { A: 1, a: 2 } });
    const bounded = await run(`keys-${++games}`, "1.0", [wide]);
    assert.deepEqual([bounded.kept?.keys.length, bounded.kept?.omitted], [maxListedKeys, 9]);
    assert.ok(JSON.stringify(bounded).length < 50_000);
  });

  it("of an envelope file, whose keys are those of upstream, names none", async () => {
    const { kept } = await run(`keys-${++games}`, "1.0", [whole], { hasSnakeKeys: false });
    assert.equal(kept, undefined);
  });

  it("after an upgrade says how many rows regain a key; a second one moves none", async () => {
    const game = `keys-${++games}`;
    const sword = entity("id.item.sword", { data: { power: 1 } });
    await run(game, "1.0", [lost, sword]);
    const first = await run(game, "1.0", [whole, entity("id.item.sword", { data: { power: 2 } })]);
    assert.deepEqual(ofChange(first), { changed: 2, unchanged: 0, moved: 1 });
    assert.match(formatReport(first), /\(1 regain keys that an earlier version lost\)$/);
    const traces = await archive.traces();
    const second = await run(game, "1.0", [whole, entity("id.item.sword", { data: { power: 2 } })]);
    assert.deepEqual(ofChange(second), { changed: 0, unchanged: 2, moved: 0 });
    assert.deepEqual(await archive.traces(), traces);
  });

  it("after an upgrade accepts the older patches as they are, and no other difference in them", async () => {
    const game = `keys-${++games}`;
    await run(game, "1.0", [lost]);
    await run(game, "1.1", [lost]);
    assert.deepEqual(ofChange(await run(game, "1.0", [whole])), {
      changed: 0,
      unchanged: 1,
      moved: 0,
    });
    await assert.rejects(
      run(game, "1.0", [torch({ Fire: 11, fire: 23, deep: [] })]),
      /only the newest patch/,
    );
    assert.deepEqual(ofChange(await run(game, "1.1", [whole])), {
      changed: 1,
      unchanged: 0,
      moved: 1,
    });
    assert.deepEqual(ofChange(await run(game, "1.2", [whole])), {
      changed: 0,
      unchanged: 1,
      moved: 0,
    });
  });

  it("refuses two spellings of one language, of which one would be hidden", async () => {
    const texts = { "pt-BR": { a: "A" }, pt_br: { a: "B" } };
    await assert.rejects(
      run(`keys-${++games}`, "1.0", [], { locales: texts }),
      /locales at pt_br: comes twice/,
    );
  });
});
