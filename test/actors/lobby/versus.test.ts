import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { answer, by, host, playing, types, waiting } from "./game.ts";

const coop = (guests = [2]) => playing({ settings: { mode: "coop" }, guests });

describe("a versus answer", () => {
  test("shows only the caller whether it was right", () => {
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

  test("changes no visible total before the reveal", () => {
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

  test("has a rate that does not reveal the answers of others", () => {
    const rates = [0, 1].map((index) => {
      const game = playing({ guests: [2, 3] });
      game.do(answer(3, index));
      const { correct_rate, num_served } = game.body(answer(2, 0));
      return [correct_rate, num_served];
    });
    assert.deepEqual(rates[0], rates[1]);
  });

  test("closes the question when it is the last missing answer", () => {
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

  test("is accepted once", () => {
    const game = playing();
    game.do(answer(2, 1));
    assert.equal(game.refused(answer(2, 0)), "lobby:already_answered");
    assert.equal(game.refused(answer(2, 0, 0, 0)), "lobby:already_answered");
  });

  test("is checked in this order: seat, state, mode, question", () => {
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

  test("is accepted until two seconds after the timer, even when the tick is late", () => {
    const game = playing({ guests: [2, 3] });
    game.wait(31_999).do(answer(2, 0));
    game.wait(1);
    assert.equal(game.refused(answer(3, 0)), "lobby:question_closed");
    assert.equal(game.state.round?.isOpen, true);
  });
});

describe("closing a versus question", () => {
  test("happens when the only player without an answer leaves", () => {
    const game = playing({ guests: [2, 3] });
    game.do(answer(host, 0));
    game.do(answer(2, 0));
    assert.deepEqual(types(game.do({ type: "leave", by: by(3) })), ["removed", "question_closed"]);
    assert.deepEqual(
      game.last("lobby.reveal").reveal.results.map((one: { player_id: number }) => one.player_id),
      [host, 2],
    );
  });

  test("happens when the only player without an answer is removed", () => {
    const game = playing({ guests: [2, 3] });
    game.do(answer(host, 0));
    game.do(answer(2, 0));
    const events = game.do({ type: "kick", by: by(host), seatId: 3, ban: false });
    assert.deepEqual(types(events), ["removed", "question_closed"]);
  });

  test("does not happen when the host, disconnected and the only one missing, removes a player", () => {
    const game = playing({
      ...{ guests: [2, 3], settings: { timer: 60 }, timings: { staleMs: 20_000 } },
    });
    for (const id of [2, 3]) game.wait(8_000).do({ type: "heartbeat", by: by(id) });
    game.pass(4_000);
    game.do(answer(2, 0));
    assert.ok(game.state.hostDisconnect);
    const events = game.do({ type: "kick", by: by(host), seatId: 3, ban: false });
    assert.deepEqual(types(events), ["host_disconnect_cleared", "removed"]);
    assert.deepEqual(types(game.do(answer(host, 1))), ["answered", "question_closed"]);
  });

  test("happens when the only player without an answer goes silent, with a timeout for that player", () => {
    const game = playing({ guests: [2, 3], settings: { timer: 60 }, timings: { staleMs: 50_000 } });
    game.wait(20_000).do(answer(host, 0));
    game.do(answer(2, 0));
    const events = game.pass(30_000);
    assert.deepEqual(types(events), ["disconnected", "question_closed"]);
    const { results, closed_by } = game.last("lobby.reveal").reveal;
    assert.equal(closed_by, "all_answered");
    assert.deepEqual([results[2].player_id, results[2].selected_index], [3, -1]);
  });

  test("happens when every connected player has answered, without the disconnected ones", () => {
    const game = playing({ guests: [2, 3], settings: { timer: 60 }, timings: { staleMs: 50_000 } });
    game.wait(45_000);
    for (const id of [host, 2]) game.do({ type: "heartbeat", by: by(id) });
    game.pass(5_000);
    game.do(answer(host, 0));
    assert.deepEqual(types(game.do(answer(2, 0))), ["answered", "question_closed"]);
  });

  test("counts the answer of a disconnected player and waits for the connected ones", () => {
    const game = playing({ guests: [2, 3], settings: { timer: 60 }, timings: { staleMs: 50_000 } });
    game.wait(45_000);
    for (const id of [host, 2]) game.do({ type: "heartbeat", by: by(id) });
    game.pass(5_000);
    assert.deepEqual(types(game.do(answer(3, 0))), ["answered"]);
    assert.equal(game.state.seats[2]?.isConnected, true);
    game.do(answer(2, 0));
    assert.deepEqual(types(game.do(answer(host, 0))), ["answered", "question_closed"]);
  });

  test("happens by the timer only when no player is connected", () => {
    const game = playing({ settings: { timer: 60 }, timings: { staleMs: 50_000 } });
    assert.deepEqual(types(game.pass(61_999)), [
      "disconnected",
      "host_disconnect_set",
      "disconnected",
    ]);
    assert.deepEqual(types(game.pass(1)), ["question_closed"]);
    assert.equal(game.last("lobby.reveal").reveal.closed_by, "timer");
  });

  test("happens when the timer and its grace period are over", () => {
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

  test("keeps the points of a player who answered and then left", () => {
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
