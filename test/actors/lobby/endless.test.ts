import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { drawPlan } from "../../../actors/lobby/questions.ts";
import type { DrawnQuestion, LobbyCommand } from "../../../actors/lobby/types.ts";
import { by, host, playing, questions, types, waiting } from "./game.ts";

describe("an endless lobby", () => {
  const endless = () => playing({ settings: { num_questions: null } });
  const advanceTo = (game: ReturnType<typeof endless>, index: number) => {
    while ((game.state.round?.index ?? 0) < index)
      game.wait(3_000).do({ type: "next", by: by(host), index: null });
  };
  const add = (firstIndex: number, drawn: DrawnQuestion[]): LobbyCommand => ({
    type: "add_questions",
    firstIndex,
    questions: drawn,
  });

  test("requests ten more questions when three remain", () => {
    const game = endless();
    advanceTo(game, 5);
    assert.equal(game.state.fetchingUntil, null);
    const events = game.wait(3_000).do({ type: "next", by: by(host), index: null });
    assert.deepEqual(types(events), ["question_closed", "question_opened", "fetching"]);
    const plan = drawPlan(game.state);
    assert.deepEqual([plan.count, plan.first_index, plan.exclude_ids.length], [10, 10, 10]);
    assert.equal(game.snapshot().is_endless, true);
    advanceTo(game, 7);
    assert.equal(types(game.events).filter((type) => type === "fetching").length, 1);
  });

  test("requests more at once when the start drew only a few", () => {
    const game = waiting({ settings: { num_questions: null } });
    assert.deepEqual(
      types(game.do({ type: "start", by: by(host), revision: 0, questions: questions(100, 2) })),
      ["started", "fetching"],
    );
    assert.deepEqual(types(game.do(add(2, questions(200, 1)))), ["questions_added", "fetching"]);
    assert.deepEqual(types(game.do(add(3, questions(300, 9)))), ["questions_added"]);
  });

  test("adds a batch once, even when the batch is late or repeated", () => {
    const game = endless();
    advanceTo(game, 6);
    game.do(add(10, questions(200, 10)));
    assert.deepEqual(game.do(add(10, questions(300, 10))), []);
    assert.equal(game.state.questions.length, 20);
    game.do({ type: "end", by: by(host) });
    assert.deepEqual(game.do(add(20, questions(400, 10))), []);
  });

  test("refuses next while the batch is under way, and continues when the batch has arrived", () => {
    const game = endless();
    advanceTo(game, 9);
    game.wait(3_000);
    const outcome = game.run({ type: "next", by: by(host), index: null });
    assert.ok(!outcome.ok);
    assert.deepEqual([outcome.code, outcome.params], ["generator:unavailable", { retry_after: 1 }]);
    game.do(add(10, questions(200, 10)));
    game.do({ type: "next", by: by(host), index: null });
    assert.equal(game.state.round?.index, 10);
  });

  test("requests a batch again when the previous one never arrived", () => {
    const game = endless();
    advanceTo(game, 6);
    assert.ok(types(game.pass(25_000)).includes("fetching"));
  });

  test("ends after the last question when no more can be produced", () => {
    const game = endless();
    advanceTo(game, 6);
    game.do(add(10, []));
    assert.equal(game.state.isExhausted, true);
    advanceTo(game, 9);
    assert.equal(types(game.events).filter((type) => type === "fetching").length, 1);
    game.wait(3_000).do({ type: "next", by: by(host), index: null });
    assert.equal(game.last("lobby.ended").reason, "completed");
  });

  test("treats a batch of already known questions as empty", () => {
    const game = endless();
    advanceTo(game, 6);
    game.do(add(10, questions(100, 10)));
    assert.equal(game.state.isExhausted, true);
  });

  test("ends after 200 questions", () => {
    const game = endless();
    for (let i = 0; i < 400 && game.state.status === "in_progress"; i++) {
      if (game.state.fetchingUntil !== null) {
        const { length } = game.state.questions;
        game.do(add(length, questions(100 + length, 10)));
      }
      game.wait(3_000).do({ type: "next", by: by(host), index: null });
    }
    assert.equal(game.state.played.length, 200);
    assert.equal(game.state.endReason, "completed");
  });
});
