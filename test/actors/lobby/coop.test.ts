import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { by, host, lock, next, pick, playing, types, waiting } from "./game.ts";

const coop = (guests = [2]) => playing({ settings: { mode: "coop" }, guests });

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

  test("of every player does not close the question", () => {
    const game = coop();
    game.do(pick(2, 0));
    assert.deepEqual(types(game.do(pick(host, 0))), ["picked"]);
    assert.equal(game.state.round?.isOpen, true);
  });

  test("of every remaining player does not close the question either", () => {
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

  test("is dropped when its player leaves", () => {
    const game = coop([2, 3]);
    game.do(pick(2, 0));
    game.do({ type: "leave", by: by(2) });
    game.do(lock());
    assert.deepEqual(
      game.state.played[0]?.results.map((one) => one.seatId),
      [host, 3],
    );
  });

  test("is checked in this order: seat, state, mode, question", () => {
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
  test("works without any pick and returns the reveal", () => {
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

  test("on a closed question returns the same reveal without an event", () => {
    const game = coop();
    const first = game.body(lock());
    const published = game.messages.length;
    const second = game.body(lock());
    assert.deepEqual(second.lobby.reveal, first.lobby.reveal);
    assert.equal(game.messages.length, published);
  });

  test("after the deadline reports that the timer closed the question", () => {
    const game = coop();
    assert.equal(game.wait(32_000).body(lock()).lobby.reveal.closed_by, "timer");
  });

  test("is checked in this order: host, state, mode, question", () => {
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
