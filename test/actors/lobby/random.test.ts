import assert from "node:assert/strict";
import { test } from "node:test";
import { nextDeadline } from "../../../actors/lobby/decide-tick.ts";
import { evolve } from "../../../actors/lobby/evolve.ts";
import { needsQuestions } from "../../../actors/lobby/questions.ts";
import { resultSheet } from "../../../actors/lobby/result-sheet.ts";
import { listingOf } from "../../../actors/lobby/snapshot.ts";
import type { Lobby } from "../../../actors/lobby/types.ts";
import { hashAnswer } from "../../../server/features/questions/seal.ts";
import { context, saltOf, secretOf, type Game } from "./game.ts";
import { command, maxPlayers, options, play, steps } from "./random-games.ts";
import { fc } from "../../support/seed.ts";

interface Wire {
  current_question: { id: number; answer_hash: string; payload: { choices: string[] } } | null;
  reveal: { question_id: number; correct_index: number; answer_salt: string } | null;
}

const runs = { numRuns: 400 };
const property = (check: (game: Game) => void, atEnd: (game: Game) => void = () => {}) =>
  fc.assert(
    fc.property(options, fc.boolean(), steps, (setup, isStarted, script) =>
      atEnd(play(setup, isStarted, script, check)),
    ),
    runs,
  );

test("seats, scores and numbers stay consistent after any sequence of commands", () => {
  const reached = new Set<string>();
  property((game) => {
    const { lobby, messages } = { lobby: game.state, messages: game.messages };
    assert.equal(lobby.seq, messages.length);
    assert.ok(lobby.seats.length <= maxPlayers);
    assert.equal(lobby.seats.filter((one) => one.isHost).length, 1);
    const accounts = lobby.seats.flatMap((one) => one.accountId ?? []);
    assert.equal(new Set(accounts).size, accounts.length);
    for (const one of [...lobby.seats, ...lobby.formerSeats]) {
      const own = lobby.played.flatMap((played) =>
        played.results.filter((result) => result.seatId === one.id),
      );
      assert.equal(
        one.score,
        own.reduce((sum, result) => sum + result.pointsEarned, 0),
      );
      assert.equal(one.numCorrect, own.filter((result) => result.isCorrect).length);
      assert.ok(one.bestStreak >= one.streak);
    }
    for (const { results } of [...lobby.played, { results: lobby.round?.results ?? [] }])
      assert.equal(new Set(results.map((result) => result.seatId)).size, results.length);
    assert.deepEqual(
      lobby.played.map((played) => played.index),
      [...lobby.played.keys()],
    );
    assert.ok(lobby.played.length <= lobby.questions.length);
    assert.ok(!needsQuestions(lobby), "low on questions without asking for more");
    reached.add(lobby.endReason ?? lobby.status);
  });
  for (const state of [
    "waiting",
    "in_progress",
    "completed",
    "host_ended",
    "host_left",
    "host_timeout",
    "operator",
  ])
    assert.ok(reached.has(state), `the sequences never reached ${state}`);
});

test("no output shows an answer before its reveal", () => {
  let open = 0;
  property((game) => {
    const { round, played, questions: drawn, status } = game.state;
    const closed = new Set(played.map((one) => one.questionId));
    const secrets = drawn
      .filter((one) => !closed.has(one.id))
      .flatMap((one) => [`"${secretOf(one.id)}"`, `"${saltOf(one.id)}"`]);
    const seen =
      JSON.stringify([game.snapshot(), game.messages.slice(-3)]) + listingOf(game.state, context);
    for (const secret of secrets) assert.ok(!seen.includes(secret));
    if (status !== "in_progress" || !round?.isOpen) return;
    open += 1;
    assert.equal(game.snapshot().reveal, null);
    for (const key of [
      "correct_index",
      "is_correct",
      "correctIndex",
      "points_earned",
      "selected_index",
    ])
      assert.ok(!JSON.stringify(game.snapshot()).includes(`"${key}"`), key);
    const beforeQuestion = new Map(
      played.flatMap((one) => one.results.map((result) => [result.seatId, result.score])),
    );
    for (const one of game.snapshot().players)
      assert.equal(one.score, beforeQuestion.get(one.id) ?? 0);
    const answers = game.messages.filter((message) => message.type === "lobby.answer");
    for (const { data } of answers)
      assert.deepEqual(Object.keys(data), ["player_id", "answered_player_ids"]);
  });
  assert.ok(open > 1_000, "the sequences hardly ever had an open question");
});

test("every reveal matches the hash shown with its question, and the hash never changes", () => {
  let proven = 0;
  property(
    () => {},
    (game) => {
      const shown = new Map<number, { answer_hash: string; payload: { choices: string[] } }>();
      for (const { data } of game.messages) {
        const wire = JSON.parse(JSON.stringify(data)) as Record<string, Wire | undefined>;
        const asked = wire["lobby"]?.current_question;
        const earlier = asked && shown.get(asked.id);
        if (asked && earlier) assert.equal(asked.answer_hash, earlier.answer_hash);
        if (asked) shown.set(asked.id, asked);
        const reveal = wire["lobby"]?.reveal;
        if (!reveal) continue;
        const question = shown.get(reveal.question_id);
        const right = { id: reveal.question_id, correctIndex: reveal.correct_index };
        const choices = question?.payload.choices ?? [];
        assert.equal(hashAnswer(reveal.answer_salt, { ...right, choices }), question?.answer_hash);
        const wrong = { ...right, correctIndex: (reveal.correct_index + 1) % 4, choices };
        assert.notEqual(hashAnswer(reveal.answer_salt, wrong), question?.answer_hash);
        proven += 1;
      }
    },
  );
  assert.ok(proven > 100, "the sequences hardly ever revealed anything");
});

test("the events alone rebuild the lobby, and its stored text restores it", () => {
  property(
    () => {},
    (game) => {
      const journal: typeof game.events = JSON.parse(JSON.stringify(game.events));
      const rebuilt = journal.reduce<Lobby | null>(evolve, null);
      assert.deepEqual(rebuilt, game.state);
      assert.deepEqual(JSON.parse(JSON.stringify(game.state)), game.state);
      assert.deepEqual(
        JSON.parse(JSON.stringify(resultSheet(game.state))),
        resultSheet(game.state),
      );
    },
  );
});

test("no tick acts before the deadline, and one tick at the deadline serves it", () => {
  property((game) => {
    const due = nextDeadline(game.state);
    if (due === null || game.state.status === "finished") return;
    const { now } = game;
    if (due > now) {
      game.now = due - 1;
      assert.deepEqual(game.do({ type: "tick" }), []);
    }
    game.now = Math.max(now, due);
    // Reset afterwards, or every lobby would run through its deadlines and end.
    const live = game.lobby;
    const [events, messages] = [game.events.length, game.messages.length];
    assert.ok(game.do({ type: "tick" }).length > 0, "the tick found nothing to do");
    const after = nextDeadline(game.state);
    assert.ok(game.state.endReason !== null || (after !== null && after > game.now));
    game.lobby = live;
    game.events.length = events;
    game.messages.length = messages;
    game.now = now;
  });
});

test("a clock that jumps forwards and backwards breaks nothing", () => {
  const clockSteps = fc.array(
    fc.record({ waitMs: fc.integer({ min: -5_000_000, max: 5_000_000 }), command }),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(options, clockSteps, (setup, script) => {
      play(setup, true, script, (game) => {
        assert.equal(game.state.seq, game.messages.length);
        for (const played of game.state.played)
          for (const { pointsEarned } of played.results)
            assert.ok(pointsEarned >= 0 && pointsEarned <= 1_200);
      });
    }),
    runs,
  );
});
