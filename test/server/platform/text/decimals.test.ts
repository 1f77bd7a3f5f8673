import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { compareDecimals } from "../../../../server/platform/text/decimals.ts";
import { fc } from "../../../support/seed.ts";

/** Large enough to make every decimal here an integer. */
const scale = 60;

/** As an integer in the smallest unit. */
function whole(sign: string, digits: string, part: string, power: number): bigint {
  const value = BigInt(digits + part) * 10n ** BigInt(scale - part.length + power);
  return sign === "-" ? -value : value;
}

const digits = (minLength: number) =>
  fc.string({ unit: fc.constantFrom(..."0019"), minLength, maxLength: 22 });
const number = fc
  .record({
    sign: fc.constantFrom("", "-", "+"),
    digits: digits(1),
    part: digits(0),
    power: fc.option(fc.integer({ min: -30, max: 30 })),
  })
  .map(({ sign, digits: before, part, power }) => ({
    text: `${sign}${before}${part && `.${part}`}${power === null ? "" : `e${power}`}`,
    value: whole(sign, before, part, power ?? 0),
  }));

const zero = (text: string) => ({ text, value: 0n });

describe("decimal numbers", () => {
  it("are ordered by value, whatever their notation and length", () => {
    fc.assert(
      fc.property(number, number, (a, b) => {
        const expected = a.value < b.value ? -1 : a.value > b.value ? 1 : 0;
        assert.equal(Math.sign(compareDecimals(a.text, b.text)), expected);
      }),
      { numRuns: 20_000, examples: [[zero("-0"), zero("0")]] },
    );
  });

  it("are equal with other zeros and exponents", () => {
    fc.assert(
      fc.property(number, fc.integer({ min: 0, max: 9 }), ({ text, value }, zeros) => {
        const [mantissa = "", power = "0"] = text.split("e");
        const moved = `${mantissa}${mantissa.includes(".") ? "" : "."}${"0".repeat(zeros)}`;
        const other = moved.endsWith(".") ? mantissa : moved;
        assert.equal(Math.abs(compareDecimals(text, `${other}e${power}`)), 0, `${value}`);
      }),
      { numRuns: 5_000 },
    );
  });
});
