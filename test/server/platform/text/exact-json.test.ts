import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isNestedDeeper, parseExactly } from "../../../../server/platform/text/exact-json.ts";
import { fc } from "../../../support/seed.ts";

describe("JSON parsing that preserves numbers", () => {
  it("returns the result of JSON.parse when every number round-trips", () => {
    const value = fc.jsonValue({ maxDepth: 4 });
    const numbers = fc.double({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(fc.oneof(value, numbers, fc.array(numbers)), (one) => {
        const text = JSON.stringify(one);
        assert.deepEqual(parseExactly(text), JSON.parse(text));
      }),
      { numRuns: 2_000 },
    );
  });

  it("keeps whole numbers of any size written in JavaScript notation", () => {
    const kept = "9007199254740992 100000000000000000000 1e20 1E+20 1.0e20 10e19 -1e300 12e-1";
    const largest = String(Number.MAX_VALUE);
    for (const text of [...kept.split(" "), largest, "0.1000000000000000055511151231257827"])
      assert.equal(parseExactly(text), Number(text), text);
  });

  it("returns NaN for a number that would round-trip as another one", () => {
    const lost = "9007199254740993 -9007199254740993 18446744073709551616 9007199254740993.5";
    const tiny = ["1e-400", "-1e-324", "3e-324", `0.${"0".repeat(400)}1`];
    for (const text of [...lost.split(" "), ...tiny, "76561197960287930", "1e400", "-1e309"])
      assert.ok(Number.isNaN(parseExactly(text)), text);
    assert.deepEqual(parseExactly('{"a":[1e400,"1e400",1e20]}'), {
      a: [Number.NaN, "1e400", 1e20],
    });
  });

  it("keeps zero in every notation, and the smallest possible number", () => {
    for (const text of ["0e500", "-0.000e-999", "0.0000000000000000000", "5e-324", "2.5e-320"])
      assert.equal(parseExactly(text), Number(text), text);
    assert.equal(parseExactly(String(2 ** -1022)), 2 ** -1022);
  });

  it("accepts any nesting, and reports what is too deep", () => {
    const deep = (levels: number) => `${"[".repeat(levels)}1e20${"]".repeat(levels)}`;
    let value = parseExactly(deep(100_000));
    for (let level = 0; level < 100_000; level++) [value] = value as [unknown];
    assert.equal(value, 1e20);
    assert.deepEqual([isNestedDeeper(deep(8), 8), isNestedDeeper(deep(9), 8)], [false, true]);
    assert.equal(isNestedDeeper(JSON.stringify({ a: '[[[["[[[' }), 1), false);
  });
});
