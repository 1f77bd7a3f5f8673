import { describe, it } from "node:test";
import { checkLists, checkPairs } from "./object-pairs.ts";

const seed = Number(process.env["DIFF_SEED"] ?? 20_261_121);

describe("the difference of very many objects", () => {
  it(`can be applied and inverted, over 100,000 pairs with hostile keys (DIFF_SEED=${seed})`, () => {
    checkPairs(seed, 100_000);
  });

  it(`compares 20,000 lists by index exactly where the changes can be applied and inverted (DIFF_SEED=${seed})`, () => {
    checkLists(seed, 20_000);
  });
});
