import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { decide } from "../../../actors/lobby/decide.ts";
import { evolve } from "../../../actors/lobby/evolve.ts";
import { messageTypes } from "../../../actors/lobby/messages.ts";
import { listingOf, lobbySnapshot } from "../../../actors/lobby/snapshot.ts";
import {
  answer,
  by,
  context,
  createCommand,
  epoch,
  host,
  lock,
  next,
  pick,
  playing,
  question,
  saltOf,
  secretOf,
  seat,
  waiting,
} from "./game.ts";

describe("the snapshot", () => {
  describe("of a lobby in play", () => {
    test("of a waiting lobby has every field, with the server time last", () => {
      const game = waiting({
        guests: [],
        settings: { prompt: "cats", selected_categories: ["art"] },
      });
      game.wait(1_500);
      const shown = game.snapshot();
      assert.deepEqual(shown, {
        id: 77,
        code: "ABCDEF",
        host_name: "Player 1",
        category: null,
        difficulty: null,
        prompt: "cats",
        selected_categories: ["art"],
        blend: false,
        review: false,
        timer: 30,
        num_questions: 3,
        num_questions_requested: 3,
        is_endless: false,
        status: "waiting",
        visibility: "public",
        mode: "versus",
        max_players: 8,
        current_index: 0,
        created_at: "2026-01-31T12:00:00+00:00",
        started_at: null,
        finished_at: null,
        current_question_started_at_ms: null,
        players: [
          {
            id: 1,
            name: "Player 1",
            is_host: true,
            account_id: 901,
            avatar_url: null,
            score: 0,
            streak: 0,
            best_streak: 0,
            num_correct: 0,
            is_connected: true,
            has_answered: false,
            joined_at: "2026-01-31T12:00:00+00:00",
          },
        ],
        current_question: null,
        answered_player_ids: [],
        host_disconnect: null,
        reveal: null,
        spectator_count: 0,
        seq: 0,
        hub: { url: "https://play.example/v1/hub", topic: "/games/trivia/lobby/ABCDEF" },
        server_now_ms: epoch + 1_500,
      });
      assert.equal(Object.keys(lobbySnapshot(game.state, 0, context)).at(-1), "server_now_ms");
    });

    test("shows the question in play form", () => {
      const shown = playing().snapshot();
      assert.deepEqual(shown.current_question, {
        id: 100,
        type: "multiple_choice",
        category: "science",
        difficulty: "medium",
        question: "Question 100?",
        payload: { choices: ["a", "b", "c", "d"], estimated_rate: 55 },
        is_cached: true,
        answer_hash: question(100).answerHash,
        index: 0,
        started_at_ms: epoch,
        ends_at_ms: epoch + 30_000,
      });
      assert.equal(shown.current_question_started_at_ms, epoch);
      assert.equal(shown.started_at, "2026-01-31T12:00:00+00:00");
    });

    test("shows a question of an earlier version without a hash", () => {
      const game = playing();
      const [asked, ...others] = game.state.questions;
      const { answerHash: _, answerSalt: __, ...before } = asked ?? question(100);
      game.lobby = { ...game.state, questions: [before, ...others] };
      assert.equal(game.snapshot().current_question.answer_hash, null);
      game.do(answer(2, 0));
      game.do(answer(host, 0));
      assert.equal(game.snapshot().reveal.answer_salt, null);
    });

    test("shows who has answered, and the reveal once the question is closed", () => {
      const game = playing({ guests: [2, 3] });
      game.wait(700).do(answer(3, 0, 700));
      const open = game.snapshot();
      assert.deepEqual(
        open.players.map((one: { has_answered: boolean }) => one.has_answered),
        [false, false, true],
      );
      game.wait(3_000).do(answer(2, 1, 3_700));
      game.do(answer(host, -1, 0));
      assert.deepEqual(game.snapshot().reveal, {
        question_id: 100,
        index: 0,
        correct_index: 0,
        answer_salt: saltOf(100),
        explanation: secretOf(100),
        correct_rate: 64,
        num_served: 11,
        results: [
          {
            player_id: 3,
            selected_index: 0,
            is_correct: true,
            points_earned: 297,
            time_taken_ms: 700,
            score: 297,
            streak: 1,
          },
          {
            player_id: 2,
            selected_index: 1,
            is_correct: false,
            points_earned: 0,
            time_taken_ms: 3_700,
            score: 0,
            streak: 0,
          },
          {
            player_id: 1,
            selected_index: -1,
            is_correct: false,
            points_earned: 0,
            time_taken_ms: 2_200,
            score: 0,
            streak: 0,
          },
        ],
        closed_by: "all_answered",
      });
    });
  });
  describe("of a finished lobby", () => {
    test("of a finished lobby keeps the last reveal and has no question", () => {
      const game = playing({ settings: { num_questions: 1 } });
      game.wait(3_000).do(next());
      const shown = game.snapshot();
      assert.deepEqual(
        [
          shown.current_question,
          shown.current_question_started_at_ms,
          shown.reveal.closed_by,
          shown.finished_at,
        ],
        [null, null, "next", "2026-01-31T12:00:03+00:00"],
      );
      assert.ok(!("review_items" in shown));
    });

    test("of a finished lobby has the review when the host requested it", () => {
      const game = playing({ settings: { mode: "coop", review: true, num_questions: 2 } });
      game.do(pick(2, 0));
      game.do(lock());
      assert.ok(!("review_items" in game.snapshot()));
      game.do(next());
      game.do({ type: "end", by: by(host) });
      const { review_items } = game.snapshot();
      assert.equal(review_items.length, 1);
      assert.deepEqual(review_items[0].question, {
        id: 100,
        type: "multiple_choice",
        category: "science",
        difficulty: "medium",
        question: "Question 100?",
        answers: ["a", "b", "c", "d"],
        correct_index: 0,
        explanation: secretOf(100),
      });
      assert.equal(review_items[0].answer_hash, question(100).answerHash);
      assert.equal(review_items[0].answer_salt, saltOf(100));
      assert.deepEqual(
        review_items[0].results.map((one: Record<string, unknown>) => [
          one["player_id"],
          one["selected_index"],
        ]),
        [
          [2, 0],
          [host, -1],
        ],
      );
    });
  });
});

describe("the listing of a lobby", () => {
  test("is the snapshot without its end, so that the time can be appended", () => {
    const game = playing();
    const listing = listingOf(game.state, context);
    assert.deepEqual(JSON.parse(`${listing},"server_now_ms":${game.now}}`), game.snapshot());
  });

  test("handles names and prompts that look like the end of the snapshot", () => {
    const game = waiting({ guests: [], settings: { prompt: ',"server_now_ms":0}' } });
    game.do({ type: "join", by: by(null), seat: { ...seat(2), name: '}],"server_now_ms":1}' } });
    const listing = listingOf(game.state, context);
    assert.deepEqual(JSON.parse(`${listing},"server_now_ms":${game.now}}`), game.snapshot());
  });

  test("does not exist for private and finished lobbies", () => {
    assert.equal(listingOf(waiting({ settings: { visibility: "private" } }).state, context), null);
    const game = waiting();
    game.do({ type: "end", by: by(host) });
    assert.equal(listingOf(game.state, context), null);
  });
});

describe("messages of a lobby", () => {
  test("increase seq for published events only", () => {
    const game = playing({ guests: [2, 3] });
    game.do(answer(2, 0));
    game.do({ type: "leave", by: by(3) });
    game.wait(3_000).do(next());
    game.do({ type: "end", by: by(host) });
    const published = game.events.filter((event) => messageTypes[event.type]);
    assert.equal(game.state.seq, published.length);
    assert.equal(game.messages.length, published.length);
  });

  test("carry the lobby as it is right after the event", () => {
    const game = playing({ settings: { num_questions: 2 } });
    game.wait(3_000).do(next());
    assert.equal(game.last("lobby.reveal").lobby.current_index, 0);
    assert.equal(game.last("lobby.reveal").lobby.reveal.closed_by, "next");
    assert.equal(game.last("lobby.question").lobby.current_index, 1);
    assert.equal(game.last("lobby.question").lobby.seq, game.last("lobby.reveal").lobby.seq + 1);
  });
});

test("deciding a command does not change the lobby", () => {
  const game = playing({ guests: [2, 3] });
  const before = JSON.stringify(game.state);
  for (const command of [answer(2, 0), next(), { type: "leave", by: by(host) } as const])
    decide(game.state, command, game.now + 5_000);
  assert.equal(JSON.stringify(game.state), before);
});

test("an event without its lobby throws an error", () => {
  assert.throws(() => evolve(null, { type: "seen", at: 0, seatId: 1 }), /needs a lobby/);
  assert.equal(evolve(null, decided()).code, "ABCDEF");
});

function decided() {
  const decision = decide(null, createCommand(), epoch);
  assert.ok(decision.ok && decision.events[0]);
  return decision.events[0];
}
