import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { relativesOf } from "../../../../server/platform/text/language-tags.ts";
import { preferredLocale } from "../../../../server/platform/text/locales.ts";

describe("the fallbacks of a language tag", () => {
  /** The text that is chosen for the tag. */
  const served = (tag: string, ...texts: string[]) =>
    relativesOf(tag).find((one) => texts.includes(one)) ?? null;

  it("include the default script of a region, and the region of a script", () => {
    for (const [tag, text] of [
      ["zh-CN", "zh-hans"],
      ["zh_SG", "zh-hans"],
      ["zh-TW", "zh-hant"],
      ["zh-HK", "zh-hant"],
      ["zh-Hans", "zh-cn"],
      ["zh-Hant", "zh-tw"],
      ["zh-Hans-CN", "zh-cn"],
      ["es-MX", "es-419"],
      ["no", "nb"],
      ["iw-IL", "he"],
      ["iw-IL", "iw"],
      ["sh", "sh"],
      ["und-TW", "zh-hant"],
      ["und-Hant", "zh-tw"],
      ["zh-yue", "zh-hans"],
      ["zh-cmn-Hant-TW", "zh-tw"],
    ] as const)
      assert.equal(served(tag, text, "zh", "pt", "en", "es"), text, `${tag} -> ${text}`);
  });

  it("begin with the tag itself, also with a bare language, and go on to its likely forms", () => {
    for (const [tag, ...texts] of [
      ["en", "en", "en-us"],
      ["EN", "en", "en-us"],
      ["pt", "pt", "pt-br"],
      ["zh", "zh", "zh-hans", "zh-cn"],
      ["iw", "iw", "he", "he-il"],
      ["no", "no", "no-no", "nb"],
      ["nb", "nb", "nb-no", "no"],
      ["en-u-co-phonebk", "en", "en-us"],
      ["en-US", "en-us", "en"],
      ["pt-BR", "pt-br", "pt"],
      ["zh-Hans", "zh-hans", "zh-cn", "zh"],
      ["und", "und", "en-us", "en"],
    ]) {
      const chain = relativesOf(tag ?? "").filter((one) => texts.includes(one));
      assert.deepEqual(chain, texts, tag);
    }
  });

  it("never use another script when a script is given", () => {
    assert.equal(served("zh-TW", "zh-hans", "zh-cn"), null);
    assert.equal(served("sr-Latn", "sr-rs"), null);
    assert.equal(served("sr-Latn", "sr-latn"), "sr-latn");
  });

  it("drop subtags from the end, and a single letter with what follows it", () => {
    assert.deepEqual(relativesOf("de-AT"), ["de-at", "de-latn-at", "de-latn", "de"]);
    assert.equal(served("de-DE-u-co-phonebk", "de-de"), "de-de");
    assert.equal(served("pt-BR", "pt"), "pt");
  });

  it("of a tag without a language are those of its most likely languages", () => {
    for (const tag of ["und", "UND", "und-x-a", "und-Zyyy", "und-001", "mul", "zxx", "art-lojban"])
      assert.ok(relativesOf(tag).length > 0, tag);
  });

  it("of an invalid tag are none, at any length", () => {
    for (const tag of [
      "",
      "-",
      "x",
      "1",
      "de--at",
      "de_",
      "d\u0000e",
      "a".repeat(10_000),
      "-".repeat(5_000),
    ])
      assert.deepEqual(relativesOf(tag), [], tag.slice(0, 20));
  });
});

describe("the language stored for an account", () => {
  it("is the closest supported fallback of what a header prefers", () => {
    for (const [header, locale] of [
      ["zh-Hans-CN,zh;q=0.9,en;q=0.8", "zh"],
      ["nn-NO, en;q=0.5", "nb"],
      ["no", "nb"],
      ["pt_BR", "pt"],
      ["xx, de-AT;q=0.7, fr;q=0.9", "fr"],
      ["*", "en"],
      ["und, de;q=0.5", "en"],
      ["und-DE", "de"],
      ["zh-yue;q=0.4", "zh"],
      ["de;q=0", "en"],
      ["", "en"],
    ] as const)
      assert.equal(preferredLocale(header), locale, header);
  });
});
