import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { addAnswer, noTotals } from "../../server/features/progress/domain/totals.ts";
import { fc } from "../support/seed.ts";
import { startsResultsApp } from "./lobby-sheets.ts";

describe("the totals of a player", () => {
  startsResultsApp();

  playerTotals();
});

function playerTotals(): void {
  interface Try {
    question: number;
    isCorrect: boolean;
    points: number;
    xp: number;
  }

  /** Computes the rules of TRV-11 from the complete history, without state between answers. */
  function expectedTotals(history: Try[]) {
    const before_ = (n: number) =>
      history.slice(0, n).filter((one) => one.question === history[n]?.question);
    const isFirst = (n: number) => before_(n).length === 0;
    const isCorrection = (n: number) =>
      history[n]?.isCorrect === true && before_(n).at(-1)?.isCorrect === false;
    const hadCorrection = (n: number) =>
      history.some((one, m) => m < n && one.question === history[n]?.question && isCorrection(m));
    const sum = (value: (one: Try, n: number) => number) =>
      history.reduce((total, one, n) => total + value(one, n), 0);
    const streakAfter = (n: number) => {
      const upTo = history.slice(0, n + 1);
      const from = upTo.findLastIndex((one) => !one.isCorrect) + 1;
      return upTo.filter((_, m) => m >= from && isFirst(m)).length;
    };
    const halfXp = (one: Try, n: number) =>
      isCorrection(n) && !hadCorrection(n) ? Math.floor(one.xp / 2) : 0;
    return {
      score: sum((one, n) => (isFirst(n) && one.isCorrect ? one.points : 0)),
      answers: history.length,
      correct: history.filter((one) => one.isCorrect).length,
      bestStreak: Math.max(0, ...history.map((_, n) => streakAfter(n))),
      currentStreak: history.length === 0 ? 0 : streakAfter(history.length - 1),
      xp: sum((one, n) => (isFirst(n) ? (one.isCorrect ? one.xp : 0) : halfXp(one, n))),
    };
  }

  /** The same through the job's function, with the facts from the store. */
  function folded(history: Try[]) {
    const last = new Map<number, boolean>();
    const corrected = new Set<number>();
    return history.reduce((totals, { question, isCorrect, points, xp }) => {
      const known = last.get(question);
      const given = {
        isCorrect,
        points: isCorrect ? points : 0,
        xp: isCorrect ? xp : 0,
        previous: known === undefined ? null : known ? ("right" as const) : ("wrong" as const),
        isCorrected: corrected.has(question),
      };
      if (given.previous === "wrong" && isCorrect) corrected.add(question);
      last.set(question, isCorrect);
      return addAnswer(totals, given);
    }, noTotals);
  }

  it("match the full history", () => {
    const one = fc.record({
      question: fc.nat({ max: 4 }),
      isCorrect: fc.boolean(),
      points: fc.integer({ min: 100, max: 3_000 }),
      xp: fc.constantFrom(10, 20, 30, 40, 50),
    });
    fc.assert(
      fc.property(fc.array(one, { maxLength: 30 }), (history) => {
        assert.deepEqual(folded(history), expectedTotals(history));
      }),
      { numRuns: 500 },
    );
  });
}
