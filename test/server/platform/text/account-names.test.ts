import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  isDisplayName,
  isSameMailbox,
  isUsername,
  nameKey,
  normalizeEmail,
} from "../../../../server/platform/text/account-names.ts";
import { preferredLocale } from "../../../../server/platform/text/locales.ts";
import { fc } from "../../../support/seed.ts";

describe("an email address", () => {
  const forms: [text: string, normal: string | null][] = [
    ["  Ada@Example.COM ", "ada@example.com"],
    ["ada@example.com.", "ada@example.com"],
    ["ＡＤＡ＠example．com", "ada@example.com"],
    ["ada@bücher.example", "ada@xn--bcher-kva.example"],
    ["ADA@BÜCHER.example", "ada@xn--bcher-kva.example"],
    ["a+b@x-y.example", "a+b@x-y.example"],
    ["ada＠example.com", "ada@example.com"],
    ["ada﹫example。com", "ada@example.com"],
    ["ada@example｡com。", "ada@example.com"],
    ["\u202aada@example.com\u202c", "ada@example.com"],
    ["a\u00adda@exam\u200bple.com\ufeff", "ada@example.com"],
    ["ad\ufe0fa\u2800@example.com", "ada@example.com"],
    ["ada@Straße.example", "ada@xn--strae-oqa.example"],
    ["\u200b", null],
    ["ada@\u200b", null],
    ["ada@＠example.com", null],
    ["ada", null],
    ["ada@localhost", null],
    ["a@b@c.de", null],
    ["a b@c.de", null],
    [".a@c.de", null],
    ["a..b@c.de", null],
    ["a@-c.de", null],
    ["a@1.2", null],
    ["a@c..de", null],
    [`${"a".repeat(65)}@c.de`, null],
    [`a@${"c".repeat(64)}.de`, null],
    ["a\n@c.de", null],
    ["<a>@c.de", null],
    ["ada@xn--a.example", null],
    ["ada@xn--p1ai", null],
    ["ada@xn--n3h.example", "ada@xn--n3h.example"],
  ];
  for (const [text, normal] of forms)
    it(`${JSON.stringify(text)} is read as ${JSON.stringify(normal)}`, () => {
      assert.equal(normalizeEmail(text), normal);
    });

  it("has a stable normal form of at most 254 characters", () => {
    const near = fc.tuple(fc.string({ unit: "grapheme" }), fc.domain()).map((p) => p.join("@"));
    fc.assert(
      fc.property(fc.oneof(fc.emailAddress(), near, fc.string({ unit: "binary" })), (text) => {
        const once = normalizeEmail(text);
        if (once === null) return;
        assert.equal(normalizeEmail(once), once);
        assert.ok(once.length <= 254 && once.isWellFormed() && !/\s/.test(once));
      }),
      { numRuns: 2_000 },
    );
  });

  it("is the same in any case or width, and with spaces around it", () => {
    fc.assert(
      fc.property(fc.emailAddress({ size: "small" }), (email) => {
        const normal = normalizeEmail(email);
        for (const spelling of [email.toUpperCase(), ` ${email}\t`, `${email}.`])
          assert.equal(normalizeEmail(spelling), normal);
      }),
    );
  });

  it("of excessive length is refused, in less than quadratic time", () => {
    assert.equal(normalizeEmail("a@" + "a.".repeat(1e6) + "de"), null);
    assert.equal(normalizeEmail("a@" + "a.".repeat(500)), null);
  });
});

describe("an address that another account has verified", () => {
  it("is the same mailbox in another case or domain form, but not with another local part", () => {
    const isSame = (text: string) => isSameMailbox(text, normalizeEmail(text) ?? "");
    for (const text of ["Ada@Example.com", " ada＠example.com", "ada@Bücher.example"])
      assert.ok(isSame(text), text);
    for (const text of [
      "ａda@example.com",
      "\u212aate@example.com",
      "ﬁ@example.com",
      "ad\ufe0fa@example.com",
    ])
      assert.ok(normalizeEmail(text) !== null && !isSame(text), text);
  });
});

describe("a user name", () => {
  const forms: [text: string, key: string | null][] = [
    ["Ada_99", "ada_99"],
    ["ADA_99", "ada_99"],
    ["___", "___"],
    ["ab", null],
    ["abc", "abc"],
    ["a".repeat(20), "a".repeat(20)],
    ["a".repeat(21), null],
    ["", null],
    [" ada", null],
    ["ada ", null],
    ["ada\n", null],
    ["\nada", null],
    ["ada\u0000", null],
    ["ａｄａ", null],
    ["\u212aate", null],
    ["\u0130da", null],
    ["\u0131da", null],
    ["\u017fam", null],
    ["adä", null],
    ["ada\u0301", null],
    ["аda", null],
    ["ada\u200b", null],
    ["ada-99", null],
    ["ada@99", null],
  ];
  for (const [text, key] of forms)
    it(`${JSON.stringify(text)} is ${key === null ? "refused" : `compared as ${key}`}`, () => {
      assert.equal(isUsername(text) ? nameKey(text) : null, key);
    });
});

describe("a display name", () => {
  it("has 1 to 64 visible characters", () => {
    assert.ok(isDisplayName(" Ada Lovelace "));
    assert.ok(isDisplayName("😀".repeat(64)));
    for (const bad of ["", "  ", "😀".repeat(65), "a\u0000b", "a\nb", "\u202eevil", "\ud800"])
      assert.ok(!isDisplayName(bad), JSON.stringify(bad));
  });
});

describe("the preferred language", () => {
  it("is the best supported one, else English", () => {
    assert.equal(preferredLocale("de-CH, fr;q=0.9"), "de");
    assert.equal(preferredLocale("xx, fr;q=0.2, it;q=0.8"), "it");
    assert.equal(preferredLocale("fr;q=0, *"), "en");
    assert.equal(preferredLocale(undefined), "en");
    fc.assert(fc.property(fc.string(), (text) => /^[a-z]{2}$/.test(preferredLocale(text))));
  });
});
