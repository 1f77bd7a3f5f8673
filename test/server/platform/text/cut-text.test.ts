import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Fault } from "../../../../server/platform/faults/fault.ts";
import { groupKeyOf, withoutValues } from "../../../../server/platform/faults/grouping.ts";
import { reasonOf } from "../../../../server/operator/board/reason.ts";
import { cutText } from "../../../../server/platform/text/cut-text.ts";
import { maskText } from "../../../../server/platform/text/masking.ts";
import { fc } from "../../../support/seed.ts";

describe("a text that is cut", () => {
  it("stays whole up to its bound", () => {
    assert.equal(cutText("", 0), "");
    assert.equal(cutText("sword", 5), "sword");
    assert.equal(cutText("swords", 5), "sword");
    assert.equal(cutText("sword", 5, "…"), "sword");
    assert.equal(cutText("swords", 5, "…"), "swor…");
  });

  it("keeps no half of a character, an accent, a flag or a family", () => {
    const family = "👩‍👩‍👧";
    for (const grapheme of ["😀", "e\u0301", "🇩🇪", family, "👍🏽", "क्षि", "\r\n"])
      for (let room = 4; room < 4 + grapheme.length; room++)
        assert.equal(cutText(`game${grapheme}!`, room), "game", grapheme);
    assert.equal(cutText(`game${family}!`, 4 + family.length), `game${family}`);
    assert.equal(cutText("🇩🇪🇫🇷🇮🇹", 9), "🇩🇪🇫🇷");
  });

  it("cuts a grapheme that is longer than the bound between characters", () => {
    const stacked = `a${"\u0301".repeat(1_000)}`;
    assert.equal(cutText(stacked, 80), stacked.slice(0, 80));
    assert.equal(cutText("😀😀", 1), "");
    assert.equal(cutText(`😀${"\u200d😀".repeat(40)}`, 4), "😀\u200d");
  });

  it("stays well-formed for operators, also where masking shortens it", () => {
    const faces = (before: string) => `${before}${"😀".repeat(1_000)}`;
    const address = `${"a".repeat(60)}@example.com `;
    const error = new Error("refused");
    for (const before of ["", "a"]) {
      error.name = faces(before);
      const { place, name } = groupKeyOf({ kind: "job", place: faces(before), error });
      const shown = {
        place,
        name: name ?? "",
        masked: maskText(faces(address + before), 10),
        words: withoutValues(faces(`"${"x".repeat(190)}" `.repeat(5) + before)),
        fault: new Fault("smtp.refused", {
          text: faces("secret".repeat(320) + before),
          secrets: ["secret"],
        }).text,
        reason: reasonOf({ cookies: { operator_reason: faces(before) } }),
      };
      for (const [what, text] of Object.entries(shown)) assert.ok(text.isWellFormed(), what);
    }
  });

  it("is a well-formed beginning within the bound, whatever the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.nat(40), (text, max) => {
        const cut = cutText(text, max);
        assert.ok(cut.isWellFormed() && text.startsWith(cut) && cut.length <= max);
      }),
    );
  });
});
