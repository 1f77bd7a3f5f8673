import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { describe, it } from "node:test";
import { randomBelow } from "../../../support/random.ts";
import { diffFields } from "../../../../server/features/archive/field-diff.ts";
import { checkLists, checkPairs, mutate, normal, randomObject, type Json } from "./object-pairs.ts";

const seed = Number(process.env["DIFF_SEED"] ?? 20_261_121);
const pairs = 5_000;

describe("the difference of two objects", () => {
  it(`can be applied and inverted, over ${pairs} pairs with hostile keys (DIFF_SEED=${seed})`, () => {
    checkPairs(seed, pairs);
  });

  it("is written so that jq finds both values", (t) => {
    if (spawnSync("jq", ["--version"]).status !== 0) {
      assert.ok(!process.env["CI"], "jq is not installed");
      return t.diagnostic("jq is not installed");
    }
    const random = randomBelow(seed + 1);
    const lines: string[] = [];
    const filters: string[] = [];
    const expected: string[] = [];
    while (filters.length < 400) {
      const before = randomObject(random, 3);
      const after = mutate(before, random, 3);
      if (typeof after !== "object" || after === null || Array.isArray(after)) continue;
      for (const change of diffFields(before, after as Json)) {
        filters.push(`(.[${lines.length}] | .${change.path})`);
        lines.push(JSON.stringify(before));
        expected.push(normal(change.before));
      }
    }
    const output = execFileSync("jq", ["-c", `[${filters.join(",")}]`], {
      input: `[${lines.join(",")}]`,
      encoding: "utf8",
    });
    assert.deepEqual((JSON.parse(output) as unknown[]).map(normal), expected);
  });

  it("names paths as COD-09 specifies", () => {
    const paths = (before: Json, after: Json) => diffFields(before, after).map(({ path }) => path);
    assert.deepEqual(paths({ a: [1, { b: 1 }] }, { a: [1, { b: 2 }] }), ["a[1].b"]);
    assert.deepEqual(paths({ "x y": 1 }, { "x y": { z: 1 } }), ['["x y"]']);
    assert.deepEqual(paths({ d: { "odd key": 1 } }, { d: {} }), ['d["odd key"]']);
    assert.deepEqual(paths({ a: [1, null] }, { a: [1] }), ["a"]);
    assert.deepEqual(paths({ a: [1, 2, 3] }, { a: [1] }), ["a[1]", "a[2]"]);
    assert.deepEqual(paths({ a: [1, 2] }, { a: [1, null] }), ["a"]);
    assert.deepEqual(paths({ a: [1] }, { a: [null, 2, 1] }), ["a[0]", "a[1]", "a[2]"]);
    assert.deepEqual(paths({ a: [null, 2, 1] }, { a: [1] }), ["a[0]", "a[1]", "a[2]"]);
    assert.deepEqual(paths({ a: [null] }, { a: [1, 2] }), ["a"]);
    assert.deepEqual(paths({ a: null, n: 1 }, { n: 1.0 }), []);
  });

  it("compares a list by index exactly where the changes can be applied and inverted", () => {
    checkLists(seed, 1_000);
  });
});
