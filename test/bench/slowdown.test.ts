import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { compareRounds, type Round } from "../../bench/compare/compare.ts";
import type { Outcome } from "../../bench/compare/interval.ts";

const sides = { before: "a", after: "b", scenario: "http", load: "", measured: "" };
const numComparisons = 20;

type Side = "before" | "after" | "slowed";
type Recorded = Record<Side, Record<string, number>>[];

/**
 * Interleaved rounds of `http` with a closed load, as `recorded/record.ts` measured them on two cores: `before` and `after`
 * are one build, `slowed` is the same with the preload `slower.mjs`, which needs a fifth more processor time.
 */
const read = (name: string) =>
  JSON.parse(readFileSync(join(import.meta.dirname, "recorded", name), "utf8")) as Recorded;
/** Nothing else ran. */
const quiet = read("quiet.json");
/** Two programs that never wait, and a load test, ran beside it. */
const busy = read("busy.json");

/** Twenty choices of four or five of the rounds. */
function choices(recorded: Recorded, after: Side): Round[][] {
  const all = Array.from({ length: 2 ** recorded.length }, (_, bits) =>
    recorded.filter((_round, n) => (bits >> n) & 1),
  );
  return all
    .filter(({ length }) => length === 4 || length === 5)
    .slice(0, numComparisons)
    .map((rounds) =>
      rounds.map((round) => ({
        before: new Map(Object.entries(round.before)),
        after: new Map(Object.entries(round[after])),
      })),
    );
}

const outcomes = (recorded: Recorded, after: Side): Outcome[] =>
  choices(recorded, after).map((rounds) => compareRounds(sides, rounds).outcome);
const countOf = (all: readonly Outcome[], ...some: Outcome[]) =>
  all.filter((outcome) => some.includes(outcome)).length;

describe("20 comparisons of recorded rounds", () => {
  it("call a build that needs a fifth more slower in 19 cases when the machine is quiet", () => {
    const found = outcomes(quiet, "slowed");
    assert.equal(found.length, numComparisons);
    assert.ok(countOf(found, "slower") >= 19, found.join());
  });

  it("call it slower or are too noisy when the machine is busy, and never call it faster", () => {
    const found = outcomes(busy, "slowed");
    assert.equal(countOf(found, "slower", "too noisy"), numComparisons, found.join());
  });

  it("find a difference in at most one case when both sides are one build", () => {
    for (const recorded of [quiet, busy]) {
      const found = outcomes(recorded, "after");
      assert.ok(countOf(found, "slower", "faster") <= 1, found.join());
    }
  });
});
