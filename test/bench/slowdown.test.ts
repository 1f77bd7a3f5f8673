import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { compareRounds, type Round } from "../../bench/compare/compare.ts";
import type { Outcome } from "../../bench/compare/interval.ts";
import { createRandom } from "../survival/random.ts";

const sides = { before: "a", after: "b", scenario: "http", load: "" };
const numComparisons = 20;
const slowdown = 1.2;

/** Both sides are one build: six interleaved rounds of `http` on two cores that six other programs used. */
const busy = (
  JSON.parse(readFileSync(join(import.meta.dirname, "recorded/busy.json"), "utf8")) as Record<
    "before" | "after",
    Record<string, number>
  >[]
).map(({ before, after }) => ({
  before: new Map(Object.entries(before)),
  after: new Map(Object.entries(after)),
}));

/** Rounds of a machine that nothing else uses: two runs of one build differ by 3 %. */
function quiet(seed: number): Round[] {
  const random = createRandom(seed);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const side = () =>
    new Map([
      ["read response p50 (ms)", 2 * Math.exp(0.03 * normal())],
      ["read response p90 (ms)", 4 * Math.exp(0.03 * normal())],
      ["processor time per arrival (ms)", 0.5 * Math.exp(0.03 * normal())],
    ]);
  return Array.from({ length: 6 }, () => ({ before: side(), after: side() }));
}

/** Twenty choices of four or five of the recorded rounds. */
function choices(rounds: readonly Round[]): Round[][] {
  const all = Array.from({ length: 2 ** rounds.length }, (_, bits) =>
    rounds.filter((_, n) => (bits >> n) & 1),
  );
  return all.filter(({ length }) => length === 4 || length === 5).slice(0, numComparisons);
}

/** The same rounds of a build that is slower by a fifth. */
const slowed = (rounds: readonly Round[]): Round[] =>
  rounds.map(({ before, after }) => ({
    before,
    after: new Map([...after].map(([name, value]) => [name, value * slowdown])),
  }));

const outcomes = (all: readonly Round[][]): Outcome[] =>
  all.map((rounds) => compareRounds(sides, rounds).outcome);
const countOf = (all: readonly Outcome[], ...some: Outcome[]) =>
  all.filter((outcome) => some.includes(outcome)).length;

const quietOnes = Array.from({ length: numComparisons }, (_, n) => quiet(n + 1));
const busyOnes = choices(busy);

describe("20 comparisons", () => {
  it("call a build that is 20 % slower slower in 19 cases when the machine is quiet", () =>
    assert.ok(countOf(outcomes(quietOnes.map(slowed)), "slower") >= 19));

  it("call it slower or are too noisy when the machine is busy, and never call it faster", () => {
    const found = outcomes(busyOnes.map(slowed));
    assert.equal(countOf(found, "slower", "too noisy"), numComparisons, found.join());
  });

  it("find a difference in at most one case when both sides are one build", () => {
    for (const all of [quietOnes, busyOnes]) {
      const found = outcomes(all);
      assert.ok(countOf(found, "slower", "faster") <= 1, found.join());
    }
  });
});
