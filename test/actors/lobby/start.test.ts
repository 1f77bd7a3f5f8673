import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { prepareLockMs } from "../../../actors/lobby/limits.ts";
import type { DrawnQuestion, LobbyCommand, SettingsChange } from "../../../actors/lobby/types.ts";
import { by, host, playing, question, questions, seat, types, waiting } from "./game.ts";

const settings = (changes: SettingsChange, id = host): LobbyCommand => ({
  type: "settings",
  by: by(id),
  changes,
});
const prepare = (id = host): LobbyCommand => ({ type: "prepare", by: by(id) });
const start = (revision: number, drawn: DrawnQuestion[], id = host): LobbyCommand => ({
  type: "start",
  by: by(id),
  revision,
  questions: drawn,
});

describe("the settings of a lobby", () => {
  test("can be changed by the host while waiting, and are published with each change", () => {
    const game = waiting();
    const changes: SettingsChange = { timer: 10, mode: "coop", selected_categories: ["art"] };
    assert.equal(game.body(settings(changes)), null);
    const message = game.last("lobby.settings");
    assert.deepEqual(message.changes, changes);
    assert.deepEqual([message.lobby.timer, message.lobby.mode], [10, "coop"]);
    assert.equal(game.state.settingsRevision, 1);
  });

  test("do not change, and are not published, when a command names no field", () => {
    const game = waiting();
    const { length } = game.messages;
    game.do(settings({}));
    assert.equal(game.messages.length, length);
    assert.equal(game.state.settingsRevision, 0);
  });

  test("are refused first to players other than the host, then outside waiting", () => {
    const game = playing();
    assert.equal(game.refused(settings({ timer: 10 }, 2)), "lobby:not_host");
    assert.equal(game.refused(settings({ timer: 10 }, 99)), "lobby:not_host");
    assert.equal(game.refused(settings({ timer: 10 })), "lobby:not_waiting");
    game.do({ type: "end", by: by(host) });
    assert.equal(game.refused(settings({ timer: 10 })), "lobby:not_waiting");
  });

  test("accept documented fields only", () => {
    const game = waiting();
    const planted = JSON.parse('{"timer":15,"category":"art","__proto__":{"x":1},"maxPlayers":99}');
    game.do(settings(planted));
    assert.deepEqual(game.last("lobby.settings").changes, { timer: 15 });
    assert.equal(game.state.settings.category, null);
    assert.ok(!("x" in game.state.settings));
  });
});

describe("preparing a start", () => {
  test("returns what to draw and locks out a second start", () => {
    const game = waiting({ settings: { num_questions: 5, difficulty: "hard" } });
    game.do({ type: "join", seat: seat(3, 50), by: by(null, 50) });
    const plan = game.body(prepare());
    assert.deepEqual(plan, {
      revision: 0,
      category: null,
      selected_categories: [],
      difficulty: "hard",
      prompt: null,
      blend: false,
      count: 5,
      player_ids: [901, 50],
      exclude_ids: [],
      first_index: 0,
    });
    assert.equal(game.refused(prepare()), "lobby:already_started");
  });

  test("is refused to guests, to a lone host and after the start", () => {
    const game = waiting({ guests: [] });
    assert.equal(game.refused(prepare(99)), "lobby:not_host");
    assert.equal(game.refused(prepare()), "lobby:not_enough_players");
    game.do({ type: "join", seat: seat(2), by: by(null) });
    assert.equal(game.refused(prepare(2)), "lobby:not_host");
    game.do(prepare());
    game.do(start(0, questions(100, 3)));
    assert.equal(game.refused(prepare()), "lobby:already_started");
    game.do({ type: "end", by: by(host) });
    assert.equal(game.refused(prepare()), "lobby:already_started");
  });

  test("unlocks when drawing the questions fails", () => {
    const game = waiting();
    game.do(prepare());
    assert.equal(game.refused({ type: "abandon_start", by: by(2) }), "lobby:not_host");
    assert.deepEqual(types(game.do({ type: "abandon_start", by: by(host) })), [
      "prepare_abandoned",
    ]);
    assert.deepEqual(game.do({ type: "abandon_start", by: by(host) }), []);
    game.do(prepare());
  });

  test("unlocks by itself when the start is never completed", () => {
    const game = waiting();
    game.do(prepare());
    game.wait(prepareLockMs - 1);
    assert.equal(game.refused(prepare()), "lobby:already_started");
    assert.deepEqual(types(game.pass(1)), ["prepare_abandoned"]);
    game.do(prepare());
    game.wait(prepareLockMs);
    game.do(prepare());
  });

  test("does not stay locked for an hour after a clock that was ahead", () => {
    const game = waiting();
    game.do(prepare());
    game.wait(-3_600_000).do(prepare());
  });

  test("lets players join and leave in the meantime", () => {
    const game = waiting();
    game.do(prepare());
    game.do({ type: "leave", by: by(2) });
    assert.equal(game.refused(start(0, questions(100, 3))), "lobby:not_enough_players");
    game.do({ type: "join", seat: seat(3), by: by(null) });
    game.do(start(0, questions(100, 3)));
  });
});

describe("starting a game", () => {
  test("opens the first question and returns the lobby", () => {
    const game = waiting();
    game.do(prepare());
    const { lobby } = game.body(start(0, questions(100, 3)));
    assert.equal(lobby.status, "in_progress");
    assert.equal(lobby.current_question.id, 100);
    assert.deepEqual(
      [
        lobby.current_question.index,
        lobby.current_question.started_at_ms,
        lobby.current_question.ends_at_ms,
      ],
      [0, game.now, game.now + 30_000],
    );
    assert.equal(game.last("lobby.started").lobby.current_index, 0);
    assert.equal(game.state.preparingUntil, null);
  });

  test("requests a new draw when the settings have changed", () => {
    const game = waiting();
    game.do(prepare());
    game.do(settings({ num_questions: 7 }));
    game.wait(20_000);
    const body = game.body(start(0, questions(100, 3)));
    assert.equal(body.is_stale, true);
    assert.deepEqual([body.plan.revision, body.plan.count], [1, 7]);
    assert.equal(game.state.status, "waiting");
    game.wait(prepareLockMs - 1);
    assert.equal(game.refused(prepare()), "lobby:already_started");
    game.do(start(1, questions(100, 7)));
    assert.equal(game.state.status, "in_progress");
  });

  test("happens once, by the host, and only with questions", () => {
    const game = waiting();
    assert.equal(game.refused(start(0, questions(100, 3), 2)), "lobby:not_host");
    assert.equal(game.refused(start(0, [])), "generator:unavailable");
    game.do(start(0, questions(100, 3)));
    assert.equal(game.refused(start(0, questions(200, 3))), "lobby:already_started");
    assert.equal(game.state.questions[0]?.id, 100);
  });

  test("takes no question twice and no more than requested", () => {
    const game = waiting();
    game.do(start(0, [question(100), question(100), ...questions(101, 9)]));
    assert.deepEqual(
      game.state.questions.map((one) => one.id),
      [100, 101, 102],
    );
  });

  test("plays fewer questions when fewer could be drawn", () => {
    const game = waiting({ settings: { num_questions: 50 } });
    game.do(start(0, questions(100, 1)));
    game.wait(3_000).do({ type: "next", by: by(host), index: null });
    assert.equal(game.last("lobby.ended").reason, "completed");
  });

  test("shows the number of questions asked for, after the start also the number drawn", () => {
    const game = waiting({ settings: { num_questions: 50 } });
    const shown = () => {
      const { num_questions, num_questions_requested } = game.snapshot();
      return [num_questions, num_questions_requested];
    };
    assert.deepEqual(shown(), [50, 50]);
    game.do(start(0, questions(100, 35)));
    assert.deepEqual(shown(), [35, 50]);
    const { lobby } = game.last("lobby.started");
    assert.deepEqual([lobby.num_questions, lobby.num_questions_requested], [35, 50]);
    const endless = waiting({ settings: { num_questions: null } });
    endless.do(start(0, questions(100, 10)));
    const { num_questions, num_questions_requested } = endless.snapshot();
    assert.deepEqual([num_questions, num_questions_requested], [null, null]);
  });
});
