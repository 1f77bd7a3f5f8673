import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { LobbyCommand } from "../../../actors/lobby/types.ts";
import { answer, by, host, lock, next, pick, playing, types, waiting } from "./game.ts";

const reveal: LobbyCommand = { type: "reveal", by: by(null) };
const coop = (guests = [2]) => playing({ settings: { mode: "coop" }, guests });

describe("a versus answer", () => {
  test("tells the caller alone whether it was right", () => {
    const game = playing({ guests: [2, 3] });
    const body = game.body(answer(2, 0, 0));
    assert.deepEqual(body, {
      is_correct: true,
      answer: 0,
      explanation: "secret-of-100",
      correct_rate: 78,
      num_served: 9,
      xp_gained: 0,
      points_earned: 300,
      score: 300,
      streak: 1,
      best_streak: 1,
      is_question_closed: false,
    });
    assert.deepEqual(game.last("lobby.answer"), { player_id: 2, answered_player_ids: [2] });
  });

  test("moves no visible total before the reveal", () => {
    const game = playing({ guests: [2, 3] });
    game.do(answer(2, 0));
    game.do(answer(3, 1));
    const shown = game.snapshot();
    for (const player of shown.players)
      assert.deepEqual(
        [player.score, player.streak, player.best_streak, player.num_correct],
        [0, 0, 0, 0],
      );
    assert.equal(shown.reveal, null);
    assert.deepEqual(shown.answered_player_ids, [2, 3]);
    game.do(answer(host, 0));
    assert.deepEqual(
      game.snapshot().players.map((one: { score: number }) => one.score),
      [300, 300, 0],
    );
  });

  test("has a rate that does not give away the answers of others", () => {
    const rates = [0, 1].map((index) => {
      const game = playing({ guests: [2, 3] });
      game.do(answer(3, index));
      const { correct_rate, num_served } = game.body(answer(2, 0));
      return [correct_rate, num_served];
    });
    assert.deepEqual(rates[0], rates[1]);
  });

  test("closes the question when it is the last one missing", () => {
    const game = playing();
    game.do(answer(2, 0));
    const outcome = game.run(answer(host, 1));
    assert.ok(outcome.ok);
    assert.deepEqual(types(outcome.events), ["answered", "question_closed"]);
    assert.equal(JSON.parse(outcome.body ?? "").is_question_closed, true);
    const { reveal: shown } = game.last("lobby.reveal");
    assert.equal(shown.closed_by, "all_answered");
    assert.deepEqual([shown.correct_rate, shown.num_served], [70, 10]);
    assert.deepEqual(
      shown.results.map((one: { player_id: number }) => one.player_id),
      [2, host],
    );
  });

  test("may be a timeout, which ends the streak", () => {
    const game = playing();
    const body = game.body(answer(2, -1));
    assert.deepEqual([body.is_correct, body.points_earned, body.streak], [false, 0, 0]);
    assert.equal(game.refused(answer(2, 0)), "lobby:already_answered");
  });

  test("is given once", () => {
    const game = playing();
    game.do(answer(2, 1));
    assert.equal(game.refused(answer(2, 0)), "lobby:already_answered");
    assert.equal(game.refused(answer(2, 0, 0, 0)), "lobby:already_answered");
  });

  test("is refused in this order: seat, state, mode, question", () => {
    const before = waiting();
    assert.equal(before.refused(answer(9, 0)), "lobby:player_not_found");
    assert.equal(before.refused(answer(2, 0)), "lobby:not_in_progress");
    assert.equal(coop().refused(answer(2, 0)), "lobby:wrong_mode");
    const game = playing();
    assert.equal(game.refused(answer(2, 0, 0, 1)), "lobby:question_closed");
    game.do(answer(2, 0));
    game.do(answer(host, 0));
    assert.equal(game.refused(answer(2, 0)), "lobby:question_closed");
    game.do({ type: "end", by: by(host) });
    assert.equal(game.refused(answer(2, 0)), "lobby:not_in_progress");
    assert.equal(game.refused(answer(9, 0)), "lobby:player_not_found");
  });

  test("is taken until two seconds after the timer, also when the tick is late", () => {
    const game = playing({ guests: [2, 3] });
    game.wait(31_999).do(answer(2, 0));
    game.wait(1);
    assert.equal(game.refused(answer(3, 0)), "lobby:question_closed");
    assert.equal(game.state.round?.isOpen, true);
  });
});

describe("a versus question closes when", () => {
  test("the only one missing leaves", () => {
    const game = playing({ guests: [2, 3] });
    game.do(answer(host, 0));
    game.do(answer(2, 0));
    assert.deepEqual(types(game.do({ type: "leave", by: by(3) })), ["removed", "question_closed"]);
    assert.deepEqual(
      game.last("lobby.reveal").reveal.results.map((one: { player_id: number }) => one.player_id),
      [host, 2],
    );
  });

  test("the only one missing is removed", () => {
    const game = playing({ guests: [2, 3] });
    game.do(answer(host, 0));
    game.do(answer(2, 0));
    const events = game.do({ type: "kick", by: by(host), seatId: 3, ban: false });
    assert.deepEqual(types(events), ["removed", "question_closed"]);
  });

  test("the only one missing goes silent, who then has a timeout", () => {
    const game = playing({ guests: [2, 3], settings: { timer: 60 }, timings: { staleMs: 50_000 } });
    game.wait(20_000).do(answer(host, 0));
    game.do(answer(2, 0));
    const events = game.pass(30_000);
    assert.deepEqual(types(events), ["disconnected", "question_closed"]);
    const { results, closed_by } = game.last("lobby.reveal").reveal;
    assert.equal(closed_by, "all_answered");
    assert.deepEqual([results[2].player_id, results[2].selected_index], [3, -1]);
  });

  test("everyone connected has answered, without those who are not", () => {
    const game = playing({ guests: [2, 3], settings: { timer: 60 }, timings: { staleMs: 50_000 } });
    game.wait(45_000);
    for (const id of [host, 2]) game.do({ type: "heartbeat", by: by(id) });
    game.pass(5_000);
    game.do(answer(host, 0));
    assert.deepEqual(types(game.do(answer(2, 0))), ["answered", "question_closed"]);
  });

  test("the answer of somebody thought gone counts and waits for those who are there", () => {
    const game = playing({ guests: [2, 3], settings: { timer: 60 }, timings: { staleMs: 50_000 } });
    game.wait(45_000);
    for (const id of [host, 2]) game.do({ type: "heartbeat", by: by(id) });
    game.pass(5_000);
    assert.deepEqual(types(game.do(answer(3, 0))), ["seen", "answered"]);
    game.do(answer(2, 0));
    assert.deepEqual(types(game.do(answer(host, 0))), ["answered", "question_closed"]);
  });

  test("nobody is connected any more: then by the timer only", () => {
    const game = playing({ settings: { timer: 60 }, timings: { staleMs: 50_000 } });
    assert.deepEqual(types(game.pass(61_999)), [
      "disconnected",
      "host_disconnect_set",
      "disconnected",
    ]);
    assert.deepEqual(types(game.pass(1)), ["question_closed"]);
    assert.equal(game.last("lobby.reveal").reveal.closed_by, "timer");
  });

  test("the timer and its grace are over", () => {
    const game = playing({ guests: [2, 3] });
    game.do(answer(2, 0));
    assert.deepEqual(game.pass(31_999), []);
    assert.deepEqual(types(game.pass(1)), ["question_closed"]);
    const { results, closed_by } = game.last("lobby.reveal").reveal;
    assert.equal(closed_by, "timer");
    assert.deepEqual(
      results.map((one: Record<string, unknown>) => [
        one["player_id"],
        one["selected_index"],
        one["time_taken_ms"],
      ]),
      [
        [2, 0, 0],
        [host, -1, 30_000],
        [3, -1, 30_000],
      ],
    );
  });

  test("an answer of somebody who left afterwards keeps its points", () => {
    const game = playing({ guests: [2, 3] });
    game.do(answer(2, 0));
    game.do({ type: "leave", by: by(2) });
    assert.deepEqual(game.snapshot().answered_player_ids, []);
    game.do(answer(3, 0));
    game.do(answer(host, 0));
    assert.equal(game.state.formerSeats[0]?.score, 300);
    assert.equal(game.state.played[0]?.results.length, 3);
  });
});

describe("a co-op pick", () => {
  test("is published with its index and may be changed until the lock", () => {
    const game = coop([2, 3]);
    assert.equal(game.body(pick(3, 1)), null);
    assert.deepEqual(game.last("lobby.pick"), { player_id: 3, selected_index: 1 });
    game.do(pick(2, 1));
    game.do(pick(3, 0));
    assert.deepEqual(game.snapshot().answered_player_ids, [3, 2]);
    game.do(lock());
    const { results } = game.last("lobby.reveal").reveal;
    assert.deepEqual(
      results.map((one: Record<string, unknown>) => [
        one["player_id"],
        one["selected_index"],
        one["is_correct"],
      ]),
      [
        [3, 0, true],
        [2, 1, false],
        [host, -1, false],
      ],
    );
    assert.deepEqual(game.snapshot().answered_player_ids, [3, 2]);
  });

  test("of everybody does not close the question", () => {
    const game = coop();
    game.do(pick(2, 0));
    assert.deepEqual(types(game.do(pick(host, 0))), ["picked"]);
    assert.equal(game.state.round?.isOpen, true);
  });

  test("of everybody who is left does not close it either", () => {
    const game = coop([2, 3, 4]);
    for (const id of [host, 2]) game.do(pick(id, 0));
    assert.deepEqual(types(game.do({ type: "leave", by: by(3) })), ["removed"]);
    const kick = { type: "kick", by: by(host), seatId: 4, ban: false } as const;
    assert.deepEqual(types(game.do(kick)), ["removed"]);
  });

  test("becomes an answer when the timer closes the question", () => {
    const game = coop();
    game.do(pick(2, 0));
    game.pass(32_000);
    assert.equal(game.state.seats[1]?.score, 300);
  });

  test("of somebody who left is gone", () => {
    const game = coop([2, 3]);
    game.do(pick(2, 0));
    game.do({ type: "leave", by: by(2) });
    game.do(lock());
    assert.deepEqual(
      game.state.played[0]?.results.map((one) => one.seatId),
      [host, 3],
    );
  });

  test("is refused in this order: seat, state, mode, question", () => {
    assert.equal(waiting().refused(pick(9, 0)), "lobby:player_not_found");
    assert.equal(waiting().refused(pick(2, 0)), "lobby:not_in_progress");
    assert.equal(playing().refused(pick(2, 0)), "lobby:wrong_mode");
    const game = coop();
    assert.equal(game.refused(pick(2, 0, 1)), "lobby:question_closed");
    game.do(lock());
    assert.equal(game.refused(pick(2, 0)), "lobby:question_closed");
  });

  test("never reaches a later question", () => {
    const game = coop();
    game.wait(3_000).do(next());
    assert.equal(game.refused(pick(2, 0, 0)), "lobby:question_closed");
    game.do(pick(2, 0, 1));
  });
});

describe("lock", () => {
  test("works without any pick and answers the reveal", () => {
    const game = coop();
    const { lobby } = game.body(lock(host, 0));
    assert.equal(lobby.reveal.closed_by, "lock");
    assert.equal(lobby.reveal.correct_index, 0);
    assert.equal(lobby.reveal.explanation, "secret-of-100");
    assert.deepEqual(
      lobby.reveal.results.map((one: { selected_index: number }) => one.selected_index),
      [-1, -1],
    );
  });

  test("on a closed question answers the same reveal without an event", () => {
    const game = coop();
    const first = game.body(lock());
    const published = game.messages.length;
    const second = game.body(lock());
    assert.deepEqual(second.lobby.reveal, first.lobby.reveal);
    assert.equal(game.messages.length, published);
  });

  test("after the deadline says that the timer closed the question", () => {
    const game = coop();
    assert.equal(game.wait(32_000).body(lock()).lobby.reveal.closed_by, "timer");
  });

  test("is refused in this order: host, state, mode, question", () => {
    assert.equal(waiting().refused(lock(2)), "lobby:not_host");
    assert.equal(waiting().refused(lock()), "lobby:not_in_progress");
    assert.equal(playing().refused(lock(2)), "lobby:not_host");
    assert.equal(playing().refused(lock()), "lobby:wrong_mode");
    assert.equal(coop().refused(lock(host, 1)), "lobby:question_closed");
    const ended = coop();
    ended.do({ type: "end", by: by(host) });
    assert.equal(ended.refused(lock()), "lobby:not_in_progress");
  });
});

describe("next", () => {
  test("is too early before the minimum question time, and says how long", () => {
    const game = playing();
    game.wait(1_000);
    const outcome = game.run(next());
    assert.ok(!outcome.ok);
    assert.deepEqual(
      [outcome.code, outcome.params],
      ["lobby:too_early", { retry_after_ms: 2_000 }],
    );
    game.wait(1_999);
    assert.equal(game.refused(next()), "lobby:too_early");
    game.wait(1).do(next());
  });

  test("closes an open question, publishes its reveal and opens the next one", () => {
    const game = playing();
    game.do(answer(2, 0));
    const { lobby } = (game.wait(3_000), game.body(next()));
    assert.deepEqual(
      [lobby.current_index, lobby.current_question.id, lobby.reveal],
      [1, 101, null],
    );
    assert.deepEqual(lobby.answered_player_ids, []);
    assert.equal(game.last("lobby.reveal").reveal.closed_by, "next");
    assert.equal(game.last("lobby.question").lobby.current_index, 1);
    assert.deepEqual(
      game.state.played[0]?.results.map((one) => [one.seatId, one.selectedIndex]),
      [
        [2, 0],
        [host, -1],
      ],
    );
  });

  test("after the deadline says that the timer closed the question", () => {
    const game = playing();
    game.wait(32_000).do(next());
    assert.equal(game.last("lobby.reveal").reveal.closed_by, "timer");
  });

  test("goes on at once when the question is closed", () => {
    const game = playing();
    game.do(answer(2, 0));
    game.do(answer(host, 0));
    assert.deepEqual(types(game.do(next())), ["question_opened"]);
  });

  test("after the last question finishes the lobby at the same index", () => {
    const game = playing({ settings: { num_questions: 1 } });
    const { lobby } = (game.wait(3_000), game.body(next()));
    assert.deepEqual(
      [lobby.status, lobby.current_index, lobby.current_question],
      ["finished", 0, null],
    );
    assert.equal(game.last("lobby.ended").reason, "completed");
    assert.equal(game.refused(next()), "lobby:not_in_progress");
  });

  test("with the index just left changes nothing, with another one is refused", () => {
    const game = playing();
    game.wait(3_000).do(next(host, 0));
    game.wait(3_000);
    const published = game.messages.length;
    assert.equal(game.body(next(host, 0)).lobby.current_index, 1);
    assert.equal(game.messages.length, published);
    for (const index of [-1, 2, 99])
      assert.equal(game.refused(next(host, index)), "lobby:question_closed");
    game.do(next(host, 1));
    assert.equal(game.state.round?.index, 2);
  });

  test("twice in a row without an index advances once", () => {
    const game = playing();
    game.wait(3_000).do(next());
    assert.equal(game.refused(next()), "lobby:too_early");
    assert.equal(game.state.round?.index, 1);
  });

  test("is for the host of a game in progress", () => {
    assert.equal(waiting().refused(next()), "lobby:not_in_progress");
    assert.equal(waiting().refused(next(2)), "lobby:not_host");
    assert.equal(playing().refused(next(99)), "lobby:not_host");
  });

  test("is not blocked by a clock that was set back", () => {
    const game = playing();
    game.wait(-600_000).do(next());
  });
});

describe("a reveal asked for by anyone", () => {
  test("publishes a snapshot that tells nothing while the question is open", () => {
    const game = playing();
    assert.deepEqual(game.body(reveal), { ok: true });
    assert.equal(game.last("lobby.reveal").reveal, null);
    assert.equal(game.last("lobby.reveal").lobby.reveal, null);
  });

  test("is merged to one a second, the last one served at its end", () => {
    const game = playing();
    assert.deepEqual(types(game.do(reveal)), ["reveal_published"]);
    game.wait(200);
    assert.deepEqual(types(game.do(reveal)), ["reveal_owed"]);
    assert.deepEqual(game.do(reveal), []);
    game.wait(600);
    assert.deepEqual(game.do(reveal), []);
    assert.deepEqual(game.pass(199), []);
    assert.deepEqual(types(game.pass(1)), ["reveal_published"]);
    assert.deepEqual(game.pass(5_000), []);
  });

  test("closes a question whose deadline has passed, once", () => {
    const game = playing();
    game.wait(31_999).do(reveal);
    assert.equal(game.state.round?.isOpen, true);
    game.wait(1);
    assert.deepEqual(types(game.do(reveal)), ["question_closed"]);
    assert.deepEqual(types(game.do(reveal)), ["reveal_owed"]);
    assert.equal(game.last("lobby.reveal").reveal.closed_by, "timer");
  });

  test("is served by the reveal that closes the question", () => {
    const game = playing();
    game.wait(31_500).do(reveal);
    game.wait(300).do(reveal);
    assert.deepEqual(types(game.wait(1_000).do({ type: "tick" })), ["question_closed"]);
    assert.deepEqual(types(game.do(reveal)), ["reveal_owed"]);
    assert.deepEqual(types(game.pass(1_000)), ["reveal_published"]);
  });

  test("is not held back by a clock that was set back", () => {
    const game = playing();
    game.do(reveal);
    assert.deepEqual(types(game.wait(-60_000).do(reveal)), ["reveal_published"]);
  });

  test("publishes nothing outside a game and is answered all the same", () => {
    const game = waiting();
    const published = game.messages.length;
    assert.deepEqual(game.body(reveal), { ok: true });
    game.do({ type: "end", by: by(host) });
    assert.deepEqual(game.do(reveal), []);
    assert.equal(game.messages.length, published + 1);
  });
});

describe("ending", () => {
  test("by the host is possible waiting and playing, and twice is once", () => {
    for (const game of [waiting(), playing()]) {
      assert.equal(game.refused({ type: "end", by: by(2) }), "lobby:not_host");
      const { lobby } = game.body({ type: "end", by: by(host) });
      assert.equal(lobby.status, "finished");
      assert.equal(game.last("lobby.ended").reason, "host_ended");
      const published = game.messages.length;
      assert.equal(game.body({ type: "end", by: by(host) }).lobby.status, "finished");
      assert.equal(game.messages.length, published);
    }
  });

  test("by an operator needs no seat", () => {
    const game = playing();
    game.do({ type: "operator_end" });
    assert.equal(game.last("lobby.ended").reason, "operator");
    assert.deepEqual(game.do({ type: "operator_end" }), []);
  });

  test("keeps answers that were acknowledged and charges nobody else", () => {
    const game = playing({ guests: [2, 3] });
    const { score } = game.body(answer(2, 0));
    game.do({ type: "end", by: by(host) });
    assert.equal(game.state.seats[1]?.score, score);
    assert.deepEqual(
      game.state.played[0]?.results.map((one) => one.seatId),
      [2],
    );
  });

  test("drops picks, which were tentative, and keeps the answer secret", () => {
    const game = coop();
    game.do(pick(2, 0));
    game.do({ type: "end", by: by(host) });
    assert.equal(game.state.seats[1]?.score, 0);
    assert.equal(game.snapshot().reveal, null);
    assert.ok(!JSON.stringify(game.messages).includes("secret-of"));
  });

  test("counts a question whose time was up", () => {
    const game = coop();
    game.do(pick(2, 0));
    game.wait(32_000).do({ type: "end", by: by(host) });
    assert.equal(game.state.seats[1]?.score, 300);
  });

  test("owes the result sheet until it is queued", () => {
    const game = playing();
    game.do({ type: "end", by: by(host) });
    assert.equal(game.state.isResultPending, true);
    assert.deepEqual(types(game.do({ type: "result_queued" })), ["result_queued"]);
    assert.deepEqual(game.do({ type: "result_queued" }), []);
  });
});
