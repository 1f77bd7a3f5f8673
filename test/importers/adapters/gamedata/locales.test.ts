import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readLocales } from "../../../../importers/adapters/gamedata/locales.ts";

describe("texts of an export", () => {
  const read = (files: Readonly<Record<string, unknown>>) =>
    readLocales(
      {
        paths: async () => Object.keys(files),
        read: async (path) => new TextEncoder().encode(JSON.stringify(files[path])),
      },
      "DC",
    );

  it("stay texts when they are named like built-in object properties", async () => {
    const locales = await read({
      "Content/Localization/Game/__proto__/Game.json": { DC: { polluted: "yes" } },
      "Content/Localization/Game/constructor/Game.json": { DC: { name: "Builder" } },
      "Content/Localization/Game/en/Game.json": {
        DC: JSON.parse('{"__proto__":"a","valueOf":"b"}'),
      },
    });
    assert.equal(({} as Record<string, unknown>)["polluted"], undefined);
    assert.equal(Object.name, "Object");
    assert.deepEqual(Object.keys(locales).sort(), ["__proto__", "constructor", "en"]);
    assert.deepEqual(Object.entries(locales["en"] ?? {}), [
      ["__proto__", "a"],
      ["valueOf", "b"],
    ]);
  });
});
