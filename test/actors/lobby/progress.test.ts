import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { LobbyCommand } from "../../../actors/lobby/types.ts";
import { answer, by, host, next, pick, playing, types, waiting } from "./game.ts";

const reveal: LobbyCommand = { type: "reveal", by: by(null) };
const coop = (guests = [2]) => playing({ settings: { mode: "coop" }, guests });

describe("next", () => {
  test("is refused before the minimum question time, with the time to wait", () => {
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

  test("after the deadline reports that the timer closed the question", () => {
    const game = playing();
    game.wait(32_000).do(next());
    assert.equal(game.last("lobby.reveal").reveal.closed_by, "timer");
  });

  test("advances at once when the question is closed", () => {
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

  test("changes nothing with the index just left, and is refused with any other index", () => {
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

  test("with the index of the last question, once left, returns the finished lobby", () => {
    const game = playing({ settings: { num_questions: 1 } });
    game.wait(3_000).do(next(host, 0));
    const published = game.messages.length;
    const { lobby } = game.body(next(host, 0));
    assert.deepEqual([lobby.status, lobby.seq], ["finished", game.state.seq]);
    assert.equal(game.messages.length, published);
    assert.equal(game.refused(next(2, 0)), "lobby:not_host");
    for (const index of [null, -1, 1])
      assert.equal(game.refused(next(host, index)), "lobby:not_in_progress");
  });

  test("with an index is not treated as a repeat when the host ended the game on that question", () => {
    const game = playing({ settings: { num_questions: 1 } });
    game.do({ type: "end", by: by(host) });
    assert.equal(game.refused(next(host, 0)), "lobby:not_in_progress");
  });

  test("twice in a row without an index advances once", () => {
    const game = playing();
    game.wait(3_000).do(next());
    assert.equal(game.refused(next()), "lobby:too_early");
    assert.equal(game.state.round?.index, 1);
  });

  test("is accepted from the host only, and in a game in progress only", () => {
    assert.equal(waiting().refused(next()), "lobby:not_in_progress");
    assert.equal(waiting().refused(next(2)), "lobby:not_host");
    assert.equal(playing().refused(next(99)), "lobby:not_host");
  });

  test("is not blocked by a clock that was set back", () => {
    const game = playing();
    game.wait(-600_000).do(next());
  });
});

describe("a reveal that any player requests", () => {
  test("publishes a snapshot without the answer while the question is open", () => {
    const game = playing();
    assert.deepEqual(game.body(reveal), { ok: true });
    assert.equal(game.last("lobby.reveal").reveal, null);
    assert.equal(game.last("lobby.reveal").lobby.reveal, null);
  });

  test("is coalesced to one a second, the last one served at the end of that second", () => {
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

  test("is not delayed by a clock that was set back", () => {
    const game = playing();
    game.do(reveal);
    assert.deepEqual(types(game.wait(-60_000).do(reveal)), ["reveal_published"]);
  });

  test("publishes nothing outside a game and still returns an answer", () => {
    const game = waiting();
    const published = game.messages.length;
    assert.deepEqual(game.body(reveal), { ok: true });
    game.do({ type: "end", by: by(host) });
    assert.deepEqual(game.do(reveal), []);
    assert.equal(game.messages.length, published + 1);
  });
});

describe("ending a lobby", () => {
  test("is open to the host while waiting and while playing, and repeats without effect", () => {
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

  test("needs no seat when an operator does it", () => {
    const game = playing();
    game.do({ type: "operator_end" });
    assert.equal(game.last("lobby.ended").reason, "operator");
    assert.deepEqual(game.do({ type: "operator_end" }), []);
  });

  test("keeps acknowledged answers and records no timeout for other players", () => {
    const game = playing({ guests: [2, 3] });
    const { score } = game.body(answer(2, 0));
    game.do({ type: "end", by: by(host) });
    assert.equal(game.state.seats[1]?.score, score);
    assert.deepEqual(
      game.state.played[0]?.results.map((one) => one.seatId),
      [2],
    );
  });

  test("drops tentative picks and keeps the answer secret", () => {
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

  test("leaves the result sheet pending until it is queued", () => {
    const game = playing();
    game.do({ type: "end", by: by(host) });
    assert.equal(game.state.isResultPending, true);
    assert.deepEqual(types(game.do({ type: "result_queued" })), ["result_queued"]);
    assert.deepEqual(game.do({ type: "result_queued" }), []);
  });
});
