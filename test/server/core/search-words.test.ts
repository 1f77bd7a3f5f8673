import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { foldForSearch, queryWords, searchWords } from "../../../server/core/search-words.ts";

/** As the archive compares: every word of the query begins one of the text. */
const finds = (text: string, query: string): boolean => {
  const words = searchWords(text);
  const wanted = queryWords(query);
  return wanted.length > 0 && wanted.every((one) => words.some((word) => word.startsWith(one)));
};

describe("the words of a search", () => {
  it("are found without accents, and with others than the text has", () => {
    for (const [text, query] of [
      ["Épée d'Émeraude", "epee emeraude"],
      ["Epee", "ÉPÉE"],
      ["Straße", "strasse"],
      ["Łódź", "lodz"],
      ["Smørrebrød", "smorre"],
      ["ΟΔΟΣ", "οδός"],
      ["Tiếng Việt", "tieng viet"],
      ["İstanbul", "istanbul"],
    ] as const)
      assert.ok(finds(text, query), `${query} in ${text}`);
  });

  it("are found inside text that has no spaces", () => {
    for (const [text, query] of [
      ["永恒冰霜护符", "护符"],
      ["永恒冰霜护符", "冰霜护"],
      ["永恒冰霜护符之力", "恒冰霜护符之"],
      ["りんごジュース", "ジュース"],
      ["얼음부적을", "부적"],
      ["ดาบน้ำแข็ง", "น้ำแข็ง"],
      ["Lv10冰霜护符", "护符 lv10"],
    ] as const)
      assert.ok(finds(text, query), `${query} in ${text}`);
    for (const [text, query] of [
      ["永恒冰霜护符", "火焰"],
      ["永恒冰霜护符之力", "冰霜护符咒"],
      ["frost amulet", "mulet"],
    ] as const)
      assert.ok(!finds(text, query), `${query} in ${text}`);
  });

  it("keep the signs of scripts in which they are no accents", () => {
    assert.notEqual(foldForSearch("が"), foldForSearch("か"));
    assert.equal(foldForSearch("한국"), "한국");
  });

  it("are bounded, whatever the text", () => {
    assert.ok(searchWords("字".repeat(100_000)).length <= 2_048);
    const many = Array.from({ length: 30_000 }, (_, n) =>
      String.fromCodePoint(0x4e00 + (n % 20_000)),
    );
    assert.equal(searchWords(many.join("")).length, 2_048);
    assert.ok(queryWords("字".repeat(128)).length <= 128);
  });
});
