import assert from "node:assert/strict";
import { test } from "node:test";
import { resultSheet } from "../../../actors/lobby/result-sheet.ts";
import { answer, by, epoch, host, next, playing } from "./game.ts";

test("the result sheet lists every player, including those who left, and every question as played", () => {
  const game = playing({ guests: [2, 3], settings: { num_questions: 2 } });
  game.wait(1_000).do(answer(2, 0, 1_000));
  game.do({ type: "leave", by: by(2) });
  game.wait(2_000).do(next());
  game.wait(3_000).do(answer(host, 1, 3_000));
  game.do(answer(3, 2, 3_000));
  game.do(next());
  const sheet = resultSheet(game.state);
  assert.deepEqual(
    [sheet.code, sheet.realm, sheet.endReason, sheet.startedAt, sheet.finishedAt],
    ["ABCDEF", "main", "completed", epoch, epoch + 6_000],
  );
  assert.deepEqual(
    sheet.seats.map((one) => [
      one.id,
      one.accountId,
      one.hasLeft,
      one.score,
      one.numCorrect,
      one.numAnswered,
      one.xpGained,
    ]),
    [
      [host, 901, false, 290, 1, 1, 20],
      [3, null, false, 0, 0, 1, 0],
      [2, null, true, 296, 1, 1, 0],
    ],
  );
  assert.deepEqual(
    sheet.questions.map((one) => [
      one.index,
      one.id,
      one.correctIndex,
      one.closedBy,
      one.results.length,
    ]),
    [
      [0, 100, 0, "next", 3],
      [1, 101, 1, "all_answered", 2],
    ],
  );
  assert.equal(sheet.seats[0]?.totalTimeMs, 6_000);
  assert.deepEqual(JSON.parse(JSON.stringify(sheet)), sheet);
});
