import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  foldForSearch,
  queryWords,
  searchWords,
  type QueryWord,
} from "../../../../server/platform/text/search-words.ts";

/** The archive's comparison: every query word, or all its parts, are prefixes of words of the text. */
const finds = (text: string, query: string): boolean => {
  const words = searchWords(text);
  const isThere = (one: string) => words.some((word) => word.startsWith(one));
  const wanted = queryWords(query);
  const isMet = (one: QueryWord) =>
    typeof one === "string" ? isThere(one) : one.whole.every(isThere) || one.parts.every(isThere);
  return wanted.length > 0 && wanted.every(isMet);
};

/** How many prefixes a query asks for. */
const numPrefixes = (query: string) =>
  queryWords(query).flatMap((one) => (typeof one === "string" ? one : [...one.whole, ...one.parts]))
    .length;

describe("search words", () => {
  it("match without accents, and with accents that differ from the text", () => {
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

  it("match inside text without spaces", () => {
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

  it("match with and without optional marks", () => {
    for (const [marked, plain] of [
      ["שָׁלוֹם", "שלום"],
      ["בְּרֵאשִׁית", "בראשית"],
      ["\ufb2a\ufb4b", "שו"],
      ["العَرَبِيَّة", "العربية"],
      ["مُحَمَّدٌ", "محمد"],
      ["الرَّحْمٰنِ", "الرحمن"],
      ["عـــربي", "عربي"],
      ["أحمد", "احمد"],
      ["می\u200cخواهم", "میخواهم"],
      ["ܫܠܳܡܳܐ", "ܫܠܡܐ"],
      ["вода́", "вода"],
      ["бг\u0483", "бг"],
      ["⚔\ufe0fblade", "blade"],
      ["1\ufe0f\u20e3st", "1st"],
      ["葛\u{e0100}城", "葛城"],
      ["re\u00adturn", "return"],
      ["\u200eblade\u200f", "blade"],
      ["\u{1d400}x\u1ab0", "ax"],
      ["Ħal Għaxaq", "hal ghaxaq"],
      ["Þór", "thor"],
      ["ᴭ", "ae"],
    ] as const) {
      assert.ok(finds(marked, plain), `${plain} in ${marked}`);
      assert.ok(finds(plain, marked), `${marked} in ${plain}`);
    }
  });

  it("match with and without apostrophes and dots inside words, in whatever form", () => {
    for (const [text, ...queries] of [
      [
        "Farfetch'd",
        "farfetchd",
        "farfetch'd",
        "farfetch’d",
        "FARFETCH´D",
        "farfetch d",
        "farfetch",
      ],
      ["Farfetch’d", "farfetchd", "farfetch'd", "Farfetchʼd"],
      ["Farfetchʼd", "farfetchd", "farfetch'd"],
      ["Farfetch´d", "farfetchd", "farfetch'd"],
      ["Farfetchd", "farfetch'd", "farfetch’d"],
      ["R.O.B.", "rob", "r.o.b.", "R.O.B", "r o b", "r.o"],
      ["ROB", "r.o.b."],
      ["King's Sword", "kings", "king's", "king", "kings sword", "king’s sw"],
      ["Kings", "king's"],
      ["Dragons' Den", "dragons", "dragons' den"],
      ["St. Germain", "st.germain", "st germain"],
      ["L'amulette", "amulette", "lamulette", "l’amulette"],
      ["Col·lecció", "colleccio", "col·leccio", "col.leccio"],
      ["Oʻzbek", "ozbek", "o'zbek"],
      ["צה״ל", "צהל"],
      ["ドラゴン・クエスト", "ドラゴンクエスト", "ドラゴン・クエ", "ンクエス", "クエスト"],
      ["Version 1.5", "1.5", "15"],
      ["Ｋｉｎｇ＇ｓ", "kings"],
    ] as const)
      for (const query of queries) assert.ok(finds(text, query), `${query} in ${text}`);
    for (const [text, query] of [
      ["Den. Dragon", "dendragon"],
      ["wait...what", "waitwhat"],
      ["King's", "ings"],
      ["'...'", "'"],
    ] as const)
      assert.ok(!finds(text, query), `${query} in ${text}`);
  });

  it("match at every position of a long text without spaces", () => {
    const letters = Array.from({ length: 300 }, (_, at) => String.fromCodePoint(0x4e00 + at));
    for (let at = 0; at + 6 <= letters.length; at++)
      assert.ok(finds(letters.join(""), letters.slice(at, at + 6).join("")), `at ${at}`);
    assert.ok(finds(`${"a".repeat(64)}bcd`, "bcd"));
  });

  it("keep signs that are not accents in their script", () => {
    for (const [one, other] of [
      ["が", "か"],
      ["ｶﾞ", "ｶ"],
      ["ぱ", "は"],
      ["น้ำ", "นำ"],
      ["কি", "ক"],
      ["की", "क"],
      ["க்", "க"],
      ["ދި", "ދ"],
    ] as const)
      assert.notEqual(foldForSearch(one), foldForSearch(other));
    assert.equal(foldForSearch("한국"), "한국");
  });

  it("are bounded in number, whatever the text", () => {
    assert.ok(searchWords("字".repeat(100_000)).length <= 2_048);
    const many = Array.from({ length: 30_000 }, (_, n) =>
      String.fromCodePoint(0x4e00 + (n % 20_000)),
    );
    assert.equal(searchWords(many.join("")).length, 2_048);
    assert.ok(queryWords("字".repeat(128)).length <= 128);
    const signs = searchWords("a'b.c’d ".repeat(30_000));
    assert.ok(signs.length <= 2_048);
    assert.ok(numPrefixes("a.".repeat(64)) <= 128);
    const long = searchWords(Array.from({ length: 2_048 }, (_, n) => `w${n}.x`).join(" "));
    assert.deepEqual([long.length, long.includes("w2046")], [2_048, true], "parts come first");
  });
});
