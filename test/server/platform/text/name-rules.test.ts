import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isNewLabel, isNewName } from "../../../../server/platform/text/name-rules.ts";
import { skeletonOf } from "../../../../server/platform/text/skeletons.ts";
import { processorSeconds } from "../../../support/processor-time.ts";

const shown = (name: string) => JSON.stringify(name);

describe("a new name", () => {
  describe("is accepted", () => {
    it("may use any one script, and Latin beside Chinese, Japanese or Korean", () => {
      const names = [
        ...[
          "Ada Lovelace",
          "Åsa",
          "O'Neil",
          "José",
          "e\u0301lan",
          "Nguyễn Văn A",
          "Émile & Co.",
          "x_X_x",
        ],
        ...["Вася", "Иван-2", "Ελένη", "Հայկ", "ქართული", "שלום", "محمد", "አማርኛ", "ᏣᎳᎩ", "ᐃᓄᒃᑎᑐᑦ"],
        ...[
          "山田　太郎",
          "田中さん Taro",
          "東京ラーメン123",
          "김철수 Kim",
          "李雷 Lee",
          "ㄅㄆㄇ Bo",
          "々木",
        ],
        ...[
          "हिन्दी नाम",
          "বাংলা",
          "தமிழ்",
          "తెలుగు",
          "ಕನ್ನಡ",
          "മലയാളം",
          "สมชาย",
          "ພາສາລາວ",
          "ភាសាខ្មែរ",
          "မြန်မာ",
        ],
      ];
      for (const name of names) assert.ok(isNewName(name), shown(name));
    });

    it("may contain emoji, signs, and the joiners that a script needs", () => {
      const names = [
        ...[
          "Zoë 🌞 Doe",
          "👩\u200d🚒",
          "❤\ufe0f Ann",
          "1\ufe0f\u20e3 first",
          "🇩🇪 Jan",
          "👨‍👩‍👧‍👦 fam",
          "👁‍🗨",
        ],
        ...["★ star", "(o_o)", "№ 5", "Ⅳ Henry", "ｗｉｄｅ", "𝐁𝐨𝐥𝐝", "😀".repeat(64)],
        ...["می\u200cخواهم", "ශ්\u200dරී ලංකා", "क्\u200dष", "র\u200d্যাচেল", "ರ\u200d್ಯಾಂಕ್"],
      ];
      for (const name of names) assert.ok(isNewName(name), shown(name));
    });

    it("may contain variation selectors, which do not make it a different name", () => {
      for (const [name, plain] of [
        ["葛\u{e0100}城", "葛城"],
        ["葛\u{e0101}城 太郎", "葛城 太郎"],
        ["渡邉\u{e0102}\u3000Taro", "渡邉 Taro"],
        ["神\ufe00", "神"],
        ["ᠨ\u180eᠠᠷ\u180b", "ᠨᠠᠷ"],
      ] as const) {
        assert.ok(isNewName(name), shown(name));
        assert.equal(skeletonOf(name), skeletonOf(plain), shown(name));
      }
      for (const name of [
        ...[
          "a\u{e0100}",
          "\u{e0100}葛",
          "葛\u{e0100}\u{e0101}",
          "葛 \u{e0100}",
          "Ж\ufe00",
          "か\u{e0100}",
        ],
        ...["葛\u200d城", "葛\ufe0f", "a\u180b", "ᠯ\u180b\u180b", "ᠯ\u180e"],
      ])
        assert.ok(!isNewName(name), shown(name));
    });

    it("may be written the way people write their names", () => {
      const names = [
        ...["O’Neil", "O'Neil-Smith", "Jean\u2011Luc", "ʻOkina", "ʿAlī", "Gal·la", "Mª José"],
        ...["İbrahim Işık", "Straße", "GROẞ", "Ђорђе", "Ива́н", "Əli", "Ṣọlá", "Nguyễn Thị Hường"],
        ...["Nguyễn Thị Hường".normalize("NFD"), "김철수".normalize("NFD"), "𞤀𞤣𞤤𞤢𞤥"],
        ...["مُحَمَّد", "محمد ١٢", "علی ۱۲", "אַבְרָהָם", "صلاح\u200cالدین", "राम १२३", "สมชาย ๑๒"],
        ...["田中さんカナTaro", "カナ・ひらがな", "ツヶ〆", "リョウー", "རྒྱུ", "ᠮᠣᠩᠭᠣᠯ"],
      ];
      for (const name of names) assert.ok(isNewName(name), shown(name));
    });
  });
  describe("is refused", () => {
    it("contains no invisible characters and none that reverse the text", () => {
      const names = [
        ...[
          "",
          "  ",
          "\u2800",
          "A\u2800",
          "\u3164",
          "a\u3164",
          "\u00ad",
          "a\u00adb",
          "\u{1d159}",
          "\ufffc",
        ],
        ...[
          "An\u200bna",
          "An\u200cna",
          "An\u200dna",
          "A\u200d",
          "👩\u200d",
          "\u2060Ann",
          "a\ufe0f",
          "1\ufe0f",
        ],
        ...[
          "\u202eevil",
          "a\u200fb",
          "a\u200eb",
          "a\u061cb",
          "ab\u2066c\u2069",
          "Ann\u{e0041}",
          "a\u034fb",
        ],
        ...["a\u0007", "a\nb", "a\u2028b", "\ue000", "a\ud800", "a\u180eb", "\ufff9a", "a\u115f"],
        ...["Ian\u200aClarke", "I\u2009an", "I\u202fan"],
      ];
      for (const name of names) assert.ok(!isNewName(name), shown(name));
    });

    it("contains no mark without a base character, and no stack of marks", () => {
      const names = [
        "\u0301",
        "\u0301 a",
        "a \u0301",
        "-\u0301",
        "😀\u0301",
        "a\u0301\u0302\u0303\u0304\u0305",
      ];
      for (const name of names) assert.ok(!isNewName(name), shown(name));
      assert.ok(isNewName("a\u0301\u0302\u0303"));
    });

    it("mixes no scripts that are not written together", () => {
      const names = [
        "Gr\u0430ce",
        "Grасе",
        "Αdа",
        "pаypаl",
        "田Вася",
        "Раул Paul",
        "𝐆rасе",
        "a\u093e",
        "ＧRАCE",
      ];
      for (const name of names) assert.ok(!isNewName(name), shown(name));
    });

    it("is checked in bounded time, whatever the input", () => {
      const started = processorSeconds();
      for (const unit of ["a", "\u0301", "👩\u200d", "ا\u200c", "Ж a", "\u{e0041}"])
        isNewName(unit.repeat(100_000 / unit.length));
      assert.ok(processorSeconds() - started < 1);
    });
  });
});

describe("a label", () => {
  it("may mix scripts, but contains only visible characters", () => {
    assert.ok(isNewLabel("emberline Россия") && isNewLabel("CI ключ 🔑"));
    for (const text of ["", " ", "\u2800", "a\u202eb", "a\u200bb", "\u0301", "a\nb"])
      assert.ok(!isNewLabel(text), shown(text));
  });
});

describe("the skeleton of a name", () => {
  it("is the same for names that look the same", () => {
    const equivalents = [
      ["Grace", "Grасе"],
      ["Ian Clarke", "Ian  Clarke"],
      ["Ian Clarke", " Ian\u00a0Clarke "],
      ["Ian", "lan"],
      ["bob", "b0b"],
      ["coco", "СОСО"],
      ["modern", "modem"],
      ["Ann", "Ａｎｎ"],
      ["Zoé", "Zoe\u0301"],
      ["山田 太郎", "山田　太郎"],
    ] as const;
    for (const [one, other] of equivalents) assert.equal(skeletonOf(one), skeletonOf(other), other);
  });

  it("differs for names that look different", () => {
    for (const [one, other] of [
      ["Ann", "Anna"],
      ["ian", "lan"],
      ["Player 1", "Player 2"],
      ["Zoe", "Zoë"],
      ["IanClarke", "Ian Clarke"],
    ] as const)
      assert.notEqual(skeletonOf(one), skeletonOf(other), other);
  });
});
