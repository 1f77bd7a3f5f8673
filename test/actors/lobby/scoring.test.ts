import assert from "node:assert/strict";
import { test } from "node:test";
import { multiplierOf, pointsOf, ratesOf, weightOf } from "../../../actors/lobby/scoring.ts";
import { resultSheet } from "../../../actors/lobby/result-sheet.ts";
import { answer, by, host, lock, next, pick, playing, question, seat, waiting } from "./game.ts";

test("weights follow the difficulty", () => {
  const rows: [string, number][] = [
    ["elementary", 1],
    ["easy", 1],
    ["middle_school", 2],
    ["medium", 2],
    ["high_school", 2],
    ["hard", 3],
    ["undergrad", 3],
    ["masters", 4],
    ["phd", 5],
    ["postdoc", 5],
  ];
  for (const [difficulty, weight] of rows) assert.equal(weightOf(difficulty), weight, difficulty);
});

test("the multiplier grows at 3, 6 and 10 right answers in a row", () => {
  const rows: [number, number][] = [
    [1, 1],
    [2, 1],
    [3, 2],
    [5, 2],
    [6, 3],
    [9, 3],
    [10, 4],
    [99, 4],
  ];
  for (const [streak, multiplier] of rows) assert.equal(multiplierOf(streak), multiplier);
});

test("points are the base plus a rounded-down speed bonus, times the multiplier", () => {
  const rows: [weight: number, timeMs: number, timerMs: number, streak: number, points: number][] =
    [
      [1, 0, 30_000, 1, 150],
      [2, 15_000, 30_000, 1, 250],
      [1, 10_000, 30_000, 1, 133],
      [1, 30_000, 30_000, 1, 100],
      [1, 32_000, 30_000, 1, 100],
      [5, 0, 10_000, 10, 3_000],
      [3, 7_000, 45_000, 6, 1_278],
      [1, 9_000, 10_000, 1, 105],
    ];
  for (const [weight, timeMs, timerMs, streak, points] of rows)
    assert.equal(pointsOf(weight, timeMs, timerMs, streak), points);
});

test("an answer is timed by the greater of the claimed time and the observed time less 1,500 ms", () => {
  const rows: [observedMs: number, claimedMs: number, timeMs: number][] = [
    [1_000, 900, 900],
    [1_000, 0, 0],
    [10_000, 100, 8_500],
    [10_000, 9_000, 9_000],
    [1_000, 600_000, 600_000],
  ];
  for (const [observedMs, claimedMs, timeMs] of rows) {
    const game = playing({ guests: [2, 3] });
    game.wait(observedMs).do(answer(2, 0, claimedMs));
    assert.equal(game.state.round?.results[0]?.timeTakenMs, timeMs);
  }
});

test("a pick is timed by its last change", () => {
  const game = playing({ settings: { mode: "coop" } });
  game.wait(2_000).do(pick(2, 0));
  game.wait(4_000).do(pick(2, 0));
  game.wait(1_000).do(lock());
  assert.equal(game.last("lobby.reveal").reveal.results[0].time_taken_ms, 2_000);
  const other = playing({ settings: { mode: "coop" } });
  other.wait(2_000).do(pick(2, 1));
  other.wait(4_000).do(pick(2, 0));
  other.wait(1_000).do(lock());
  const [result] = other.last("lobby.reveal").reveal.results;
  assert.deepEqual(
    [result.time_taken_ms, result.is_correct, result.points_earned],
    [6_000, true, 280],
  );
});

test("the third right answer in a row doubles the points, and a wrong answer ends the streak", () => {
  const game = playing({ settings: { num_questions: 5 } });
  const seen: [number, number, number][] = [];
  for (const isRight of [true, true, true, false, true]) {
    const index = game.state.round?.index ?? 0;
    const right = (100 + index) % 4;
    const body = game.body(answer(2, isRight ? right : (right + 1) % 4));
    seen.push([body.points_earned, body.streak, body.best_streak]);
    game.wait(3_000).do({ type: "next", by: { seatId: host, playerId: null }, index: null });
  }
  assert.deepEqual(seen, [
    [300, 1, 1],
    [300, 2, 2],
    [600, 3, 3],
    [0, 0, 3],
    [300, 1, 3],
  ]);
});

test("rates add the answers of this lobby to the stored ones, timeouts included", () => {
  const result = { seatId: 1, pointsEarned: 0, xpGained: 0, timeTakenMs: 0, score: 0, streak: 0 };
  const right = { ...result, selectedIndex: 0, isCorrect: true };
  const timeout = { ...result, selectedIndex: -1, isCorrect: false };
  const fresh = question(4, { numServed: 0, numCorrect: 0 });
  assert.deepEqual(ratesOf(fresh, []), { correct_rate: 0, num_served: 0 });
  assert.deepEqual(ratesOf(fresh, [right, timeout, timeout]), { correct_rate: 33, num_served: 3 });
  assert.deepEqual(ratesOf(question(4), [right, right]), { correct_rate: 80, num_served: 10 });
});

test("only seats with an account earn experience", () => {
  const game = playing({ settings: { mode: "coop" } });
  game.do(pick(host, 0));
  game.do(pick(2, 0));
  game.do(lock());
  const results = game.state.played[0]?.results ?? [];
  assert.deepEqual(
    results.map((one) => [one.seatId, one.xpGained]),
    [
      [host, 20],
      [2, 0],
    ],
  );
});

test("experience shrinks for a player who knows the question, and points are whole numbers", () => {
  const game = waiting({ guests: [], settings: { num_questions: 1 } });
  for (const [id, account] of [
    [2, 50],
    [3, 51],
  ] as const)
    game.do({ type: "join", seat: seat(id, account), by: by(null, account) });
  // The host has no earlier answer, seat 2 corrects its own, and the question is new to seat 3.
  const known = question(100, { xpOfKnown: { 901: 0, 50: 10 } });
  game.do({ type: "start", by: by(host), revision: 0, questions: [known] });
  const scores = [host, 2, 3].map((id) => {
    const { xp_gained, points_earned } = game.body(answer(id, 0));
    return [xp_gained, points_earned];
  });
  assert.deepEqual(scores, [
    [0, 300],
    [10, 300],
    [20, 300],
  ]);
  game.do(next());
  const sheet = resultSheet(game.state);
  assert.deepEqual(
    sheet.seats.map((one) => one.xpGained),
    [0, 10, 20],
  );
  assert.deepEqual(
    sheet.questions[0]?.results.map((one) => one.xpWhole ?? one.xpGained),
    [20, 20, 20],
    "the whole is kept for whoever credits it",
  );
  const shown = JSON.stringify([game.snapshot(), game.messages]);
  assert.ok(!shown.includes("xpOfKnown") && !shown.includes("xpWhole"));
});
