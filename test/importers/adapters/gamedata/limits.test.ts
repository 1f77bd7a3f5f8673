import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { gamedata } from "../../../../importers/adapters/gamedata/adapter.ts";
import {
  ImportRefused,
  maxAssetBytes,
  type ImportEnvelope,
} from "../../../../importers/envelope/contract.ts";

const root = mkdtempSync(join(tmpdir(), "ember-limits-"));
let folders = 0;

/** Writes the files of one export and reads it. */
async function read(files: Readonly<Record<string, string>>): Promise<ImportEnvelope> {
  const folder = join(root, `${folders++}`);
  for (const [path, content] of Object.entries(files)) {
    const file = join(folder, "main/1.0", path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
  }
  const target = { game: "gamedata", knownIds: async () => new Map<string, string>() };
  for await (const envelope of gamedata.read(folder, target)) return envelope;
  throw new Error("no export");
}

/** The problems of an export that is refused. */
async function refused(files: Readonly<Record<string, string>>) {
  const error: unknown = await read(files).then(
    () => null,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof ImportRefused, String(error));
  return error.problems.map(({ entity, place, problem }) => `${entity} ${place} ${problem}`);
}

const generated = "Data/Generated/V2";
const item = `${generated}/Item/Item/Id_Item_Torch.json`;
const table = "Content/Localization/Game/de/Game.json";
const asset = (properties: object) => JSON.stringify([{ Type: "DCData", Properties: properties }]);
const torch = { [item]: asset({}) };

describe("an export", () => {
  after(() => rmSync(root, { recursive: true, force: true }));

  it("is refused with a level that is not a place in a list of levels", async () => {
    const named = (type: string, name: string) => ({
      PrimaryAssetType: `DesignData${type}`,
      PrimaryAssetName: name,
    });
    const level = (Level: number) => ({
      [`${generated}/Religion/Religion/Id_Religion_Ash.json`]: asset({}),
      [`${generated}/Religion/ReligionOfferingLevel/Id_ReligionOfferingLevel_Ash.json`]: asset({
        ReligionId: named("Religion", "Id_Religion_Ash"),
        Level,
        Exp: 5,
      }),
    });
    for (const number of [1e8, 1_001, 0, -1, 1.5])
      assert.deepEqual(await refused(level(number)), [
        `id.religion_offering_level.ash data.level ${number} is no level from 1 to 1000`,
      ]);
    const { entities } = await read(level(1_000));
    const found = [];
    for await (const { id, data } of entities())
      if (id === "id.religion.ash") found.push(data["offering_level_exp"]);
    assert.deepEqual(found, [[...Array.from({ length: 999 }, () => 0), 5]]);
  });

  it("is refused with the name of a file that is too deep, too large or not text", async () => {
    const deep = `${"[".repeat(5_000)}${"]".repeat(5_000)}`;
    const nested = `[{"Properties":{"Deep":${deep}}}]`;
    const large = " ".repeat(maxAssetBytes + 1);
    const tooDeep = "is nested deeper than 128 levels";
    const tooLarge = `has more than ${maxAssetBytes} bytes`;
    for (const path of [item, table, "export.json"]) {
      const name = `main/1.0/${path}`;
      assert.deepEqual(await refused({ ...torch, [path]: nested }), [`${name}  ${tooDeep}`]);
      assert.deepEqual(await refused({ ...torch, [path]: large }), [`${name}  ${tooLarge}`]);
      const [problem = ""] = await refused({ ...torch, [path]: "[1e20 1e400]" });
      assert.ok(problem.startsWith(`${name}  `), problem);
    }
  });

  it("is refused with the position of a misplaced or duplicate value", async () => {
    const cases: [path: string, content: string, problem: string][] = [
      [table, "[]", " is not an object"],
      [table, '{"DC":null}', "DC is not an object"],
      [table, '{"DC":{"a":"b","c":5}}', "DC.c is no text"],
      [table, '{"DC":{"a":"b","a":"c"}}', " DC.a comes twice"],
      [table, '{"DC":{"a":"b"},"DC":{}}', " DC comes twice"],
      [item, "null", " has no object"],
      [item, "[]", " has no object"],
      [item, '[{"Properties":[]}]', " has Properties that are no object"],
      [
        item,
        '[{"Properties":{"A":[1,{"B":1,"\\u0042":2}]}}]',
        " [0].Properties.A[1].B comes twice",
      ],
      ["export.json", "[]", " must be object"],
      ["export.json", '{"version":1.5}', "version must be either string or null"],
      ["export.json", '{"versoin":"1.5"}', "versoin is no member it may have"],
      ["export.json", '{"branch":"main","branch":"beta"}', " branch comes twice"],
    ];
    for (const [path, content, problem] of cases)
      assert.deepEqual(await refused({ ...torch, [path]: content }), [
        `main/1.0/${path} ${problem}`,
      ]);
  });

  it("may begin its files with a byte order mark", async () => {
    const facts = { version: "2.0.1", branch: "main" };
    const { header, locales, entities } = await read({
      "export.json": `\ufeff${JSON.stringify(facts)}`,
      [table]: `\ufeff${JSON.stringify({ DC: { Text_Torch: "Fackel" } })}`,
      [item]: `\ufeff${asset({ MaxCount: 7 })}`,
    });
    assert.equal(header.patch.version_raw, "2.0.1");
    assert.deepEqual({ ...locales["de"] }, { Text_Torch: "Fackel" });
    for await (const { data } of entities()) assert.deepEqual(data, { max_count: 7 });
  });
});
