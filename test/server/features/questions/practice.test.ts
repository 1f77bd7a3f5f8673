import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sql } from "kysely";
import { rowsOf } from "../../../../db/queries/rows.ts";
import { loseAnswer } from "../../../support/lost-answer.ts";
import {
  app,
  clock,
  type Reveal,
  base,
  newPlayer,
  answer,
  revealed,
  idsOf,
  codeOf,
  startsPracticeApp,
} from "./practice-app.ts";

describe("an answer", () => {
  startsPracticeApp();

  describe("is rewarded", () => {
    it("reveals the correct option and adds to points, XP and the session", async () => {
      const player = await newPlayer();
      const [first, second, third] = await idsOf({ category: "art", difficulty: "hard" });
      assert.ok(first && second && third === undefined);
      const timed = { timer_duration_ms: 10_000, time_taken_ms: 5_000 };
      const right = await revealed(player, first.id, { selected_index: first.right, ...timed });
      const { session } = right;
      assert.deepEqual(
        [right.is_correct, right.answer, right.xp_gained, right.was_previously_wrong],
        [true, first.right, 30, false],
      );
      assert.deepEqual([right.correct_rate, right.num_served], [100, 1]);
      assert.ok(right.explanation.length > 0);
      // Base 300, plus a quarter of it for half the time.
      assert.deepEqual(
        [session.total_points, session.total_correct, session.total_answered],
        [375, 1, 1],
      );
      assert.deepEqual([session.current_streak, session.current_multiplier], [1, 1]);
      const late = await revealed(player, second.id, { selected_index: -1 });
      assert.deepEqual([late.is_correct, late.answer, late.xp_gained], [false, second.right, 0]);
      assert.deepEqual(
        [late.session.id, late.session.current_streak, late.session.best_streak],
        [session.id, 0, 1],
      );
      assert.equal(late.session.total_answered, 2);
      const corrected = await revealed(player, second.id, { selected_index: second.right });
      assert.deepEqual([corrected.xp_gained, corrected.was_previously_wrong], [15, true]);
      assert.deepEqual(
        [corrected.session.total_points, corrected.session.current_streak],
        [375, 0],
      );
    });

    it("raises the multiplier with the streak of the session", async () => {
      const player = await newPlayer();
      const all = (
        await Promise.all(
          ["art", "music", "film", "history", "nature"].map((category) =>
            idsOf({ category, difficulty: "easy" }),
          ),
        )
      ).flat();
      const steps = [];
      let before_ = 0;
      for (const { id, right } of all.slice(0, 10)) {
        const { session } = await revealed(player, id, { selected_index: right });
        steps.push([session.total_points - before_, session.current_multiplier]);
        before_ = session.total_points;
      }
      const expected = [1, 1, 2, 2, 2, 3, 3, 3, 3, 4].map((times, n, all_) => [
        100 * times,
        all_[n + 1] ?? 4,
      ]);
      assert.deepEqual(steps, expected);
    });

    it("starts a new session when the last one was idle for half an hour or was ended", async () => {
      const player = await newPlayer();
      const [one] = await idsOf({ category: "film", difficulty: "medium" });
      const give = () => revealed(player, one?.id ?? 0, { selected_index: 0 });
      const first = (await give()).session;
      clock.advance(25 * 60_000);
      assert.equal((await give()).session.id, first.id);
      clock.advance(31 * 60_000);
      const second = (await give()).session;
      assert.notEqual(second.id, first.id);
      assert.equal(second.total_answered, 1);
      const [ended] = await rowsOf(
        app.deps.em,
        sql<{ at: number }>`select extract(epoch from ended_at)::int as at from play_sessions
          where id = ${first.id}`,
      );
      assert.equal(ended?.at, (clock.now() - 31 * 60_000) / 1_000);
      await app.client.post(`${base}/session/end`, { token: player.token });
      assert.notEqual((await give()).session.id, second.id);
    });
  });
  describe("counts once", () => {
    it("counts once under one Idempotency-Key", async () => {
      const player = await newPlayer();
      const [one] = await idsOf({ category: "film", difficulty: "hard" });
      const body = { selected_index: one?.right };
      const headers = { "idempotency-key": `k-${player.id}` };
      const answers = await Promise.all(
        [1, 2, 3].map(() => answer(player, one?.id ?? 0, body, headers)),
      );
      for (const each of answers) assert.deepEqual(each.body, answers[0]?.body);
      const other = await answer(player, one?.id ?? 0, { selected_index: -1 }, headers);
      assert.deepEqual([other.status, codeOf(other)], [409, "request:idempotency_mismatch"]);
    });

    it("counts once under one Idempotency-Key even if the first response was lost", async () => {
      const player = await newPlayer();
      const [one] = await idsOf({ category: "film", difficulty: "hard" });
      const headers = { "idempotency-key": `lost-${player.id}` };
      const give = () => answer(player, one?.id ?? 0, { selected_index: one?.right }, headers);
      await loseAnswer(app, give);
      const { status, body } = await give();
      const { is_correct, session } = body as unknown as Reveal;
      assert.deepEqual([status, is_correct, session.total_answered], [200, true, 1]);
    });

    it("is recorded even when many arrive at once", async () => {
      const player = await newPlayer();
      const list = await idsOf({ category: "sports", difficulty: "easy" });
      const all = await Promise.all(
        [...list, ...list, ...list].map(({ id, right }) =>
          revealed(player, id, { selected_index: right }),
        ),
      );
      const last = all
        .toSorted((a, b) => a.session.total_answered - b.session.total_answered)
        .at(-1);
      assert.equal(new Set(all.map((one) => one.session.id)).size, 1);
      assert.equal(last?.session.total_answered, list.length * 3);
      assert.equal(last.session.current_streak, list.length);
      assert.equal(
        all.reduce((sum, one) => sum + one.xp_gained, 0),
        10 * list.length,
      );
    });
  });
  describe("is refused", () => {
    it("is refused for an unknown question and for one of the competition pool", async () => {
      const player = await newPlayer();
      const [secret] = await idsOf({ category: "art", difficulty: "easy", pool: "competition" });
      for (const id of [secret?.id ?? 0, 0, -1, 2_147_483_647, 2_147_483_648, "1e3", "x", 1.5]) {
        const refused = await answer(player, id, { selected_index: 0 });
        assert.deepEqual(
          [refused.status, codeOf(refused)],
          [404, "question:not_found"],
          String(id),
        );
      }
      assert.equal((await answer(player, 1, { selected_index: 0 })).status === 404, false);
    });

    it("is refused with the invalid fields, and without a credential", async () => {
      const player = await newPlayer();
      const bad = {
        selected_index: 4,
        timer_duration_ms: 300_001,
        time_taken_ms: -1,
      };
      const refused = await answer(player, 1, bad);
      assert.equal(refused.status, 422);
      const named = (refused.json as { flash: { violations: { propertyPath: string }[] } }).flash;
      assert.deepEqual(
        named.violations.map((one) => one.propertyPath).sort(),
        Object.keys(bad).sort(),
      );
      for (const body of [{}, { selected_index: "1" }, { selected_index: -2 }])
        assert.equal((await answer(player, 1, body)).status, 422);
      const nobody = await app.client.post(`${base}/questions/1/answer`, {
        body: { selected_index: 0 },
      });
      assert.deepEqual([nobody.status, codeOf(nobody)], [401, "auth:required"]);
    });

    it("is refused for a player who no longer exists", async () => {
      const token = app.deps.tokens.sign("access", "2000000000", 60, {
        roles: ["ROLE_GUEST"],
        realm: "default",
        name: "gone",
        fam: "f",
      });
      const [one] = await idsOf({ category: "art", difficulty: "easy" });
      const refused = await answer({ token, id: 0 }, one?.id ?? 0, { selected_index: 0 });
      assert.deepEqual([refused.status, codeOf(refused)], [401, "auth:token_invalid"]);
    });
  });
});
