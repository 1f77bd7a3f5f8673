import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { insertAnswers } from "../../../../db/queries/questions/question-answers.ts";
import { AppError } from "../../../../server/platform/errors.ts";
import { categoryOf, difficultyOf } from "../../../../server/features/questions/categories.ts";
import { drawForLobby } from "../../../../server/features/questions/lobby-draw.ts";
import { idsIn, idsOf, jobs, plan, startsDrawJobs } from "./draw-jobs.ts";

describe("drawing questions for a lobby", () => {
  startsDrawJobs();

  describe("from categories", () => {
    it("generates missing questions and reports them as new, and later as cached", async () => {
      const first = await drawForLobby(jobs.deps, plan());
      assert.equal(first.length, 10);
      assert.ok(
        first.every((q) => !q.isCached && q.category === "art" && q.difficulty === "medium"),
      );
      await jobs.deps.redis.flushall();
      const second = await drawForLobby(jobs.deps, plan({ count: 5 }));
      assert.ok(second.every((q) => q.isCached));
    });

    it("uses only the competition pool and never draws the same question twice", async () => {
      const drawn = await drawForLobby(jobs.deps, plan({ count: 15 }));
      const competition = new Set(await idsIn("competition"));
      assert.ok(drawn.every((q) => competition.has(q.id)));
      assert.equal(new Set(idsOf(drawn)).size, 15);
      const more = await drawForLobby(
        jobs.deps,
        plan({ count: 5, exclude_ids: idsOf(drawn).slice(0, 10) }),
      );
      assert.ok(more.every((q) => !idsOf(drawn).slice(0, 10).includes(q.id)));
    });

    it("serves selected categories block by block in the given order", async () => {
      const selected_categories = ["music", "film", "history"];
      const drawn = await drawForLobby(jobs.deps, plan({ selected_categories, count: 6 }));
      assert.deepEqual(
        drawn.map((q) => q.category),
        ["music", "music", "film", "film", "history", "history"],
      );
    });

    it("includes every selected category while there are enough places", async () => {
      const selected_categories = ["music", "film", "history", "nature"];
      for (const [count, played] of [
        [5, "music music film history nature"],
        [3, "music film history"],
      ] as const) {
        const drawn = await drawForLobby(jobs.deps, plan({ selected_categories, count }));
        assert.equal(drawn.map((q) => q.category).join(" "), played);
      }
    });

    it("alternates between selected categories when blended, and a later batch continues the rotation", async () => {
      const selected_categories = ["music", "film", "history"];
      const options = { selected_categories, blend: true, count: 4 };
      const drawn = await drawForLobby(jobs.deps, plan(options));
      assert.deepEqual(
        drawn.map((q) => q.category),
        ["music", "film", "history", "music"],
      );
      const next = await drawForLobby(
        jobs.deps,
        plan({ ...options, first_index: 4, exclude_ids: idsOf(drawn) }),
      );
      assert.deepEqual(
        next.map((q) => q.category),
        ["film", "history", "music", "film"],
      );
    });

    it("uses all categories when none or random is named", async () => {
      for (const category of [null, "random"]) {
        const drawn = await drawForLobby(jobs.deps, plan({ category, count: 30 }));
        assert.equal(drawn.length, 30);
        assert.ok(new Set(drawn.map((q) => q.category)).size >= 5);
      }
    });

    it("uses the categories of the prompt when none is named, and all when the prompt fits none", async () => {
      const prompt = "capital cities, or the planets";
      for (const change of [{}, { category: "random" }, { selected_categories: ["random"] }]) {
        const drawn = await drawForLobby(jobs.deps, plan({ category: null, prompt, ...change }));
        assert.equal(drawn.length, 10);
        const others = drawn.filter((q) => q.category !== "geography" && q.category !== "science");
        assert.deepEqual(others, []);
      }
      const named = await drawForLobby(jobs.deps, plan({ prompt, count: 3 }));
      assert.ok(named.every((q) => q.category === "art"));
      const any = await drawForLobby(
        jobs.deps,
        plan({ category: null, prompt: "zxqwv", count: 30 }),
      );
      assert.ok(new Set(any.map((q) => q.category)).size >= 5);
    });

    it("treats auto and a missing difficulty as medium", async () => {
      for (const difficulty of ["auto", null]) {
        const drawn = await drawForLobby(jobs.deps, plan({ difficulty, count: 2 }));
        assert.deepEqual(
          drawn.map((q) => q.difficulty),
          ["medium", "medium"],
        );
      }
    });
  });
  describe("least known to the players", () => {
    it("prefers questions that no seated player has answered", async () => {
      await drawForLobby(jobs.deps, plan());
      await jobs.deps.redis.flushall();
      const all = await idsIn("competition");
      const answered = all.slice(0, all.length - 3);
      await insertAnswers(
        jobs.deps.em,
        answered.map((questionId, n) => ({
          playerId: n % 2 === 0 ? 7 : 8,
          questionId,
          selectedIndex: 0,
          isCorrect: false,
          points: 0,
          xp: 0,
          source: "lobby",
          ref: null,
          at: new Date(),
        })),
      );
      const drawn = await drawForLobby(jobs.deps, plan({ count: 3, player_ids: [7, 8] }));
      assert.deepEqual(idsOf(drawn).sort(), all.slice(-3).sort());
    });

    it("reports the reduced value of a question for players who have answered it before", async () => {
      const drawn = idsOf(await drawForLobby(jobs.deps, plan({ count: 3, category: "art" })));
      await jobs.deps.redis.flushall();
      const [first = 0, second = 0] = drawn;
      const others = (await idsIn("competition")).filter((id) => !drawn.includes(id));
      const given = (playerId: number, questionId: number, isCorrect: boolean, xp: number) => ({
        ...{ playerId, questionId, selectedIndex: 0, isCorrect, points: 0, xp },
        ...{ source: "lobby" as const, ref: null, at: new Date() },
      });
      await insertAnswers(jobs.deps.em, [
        given(7, first, true, 0),
        given(7, second, false, 0),
        given(8, first, false, 0),
        given(9, second, true, 20),
      ]);
      const again = await drawForLobby(
        jobs.deps,
        plan({ count: 3, player_ids: [7, 8], exclude_ids: others }),
      );
      const worth = Object.fromEntries(again.map((one) => [one.id, one.xpOfKnown]));
      assert.deepEqual(worth[first], { 7: 0, 8: 10 });
      assert.deepEqual(worth[second], { 7: 10 }, "of those who sit there alone");
      assert.equal(Object.values(worth).filter((one) => one === undefined).length, 1);
    });

    it("uses questions that are live in another lobby only as a last resort", async () => {
      await drawForLobby(jobs.deps, plan({ count: 10 }));
      await jobs.deps.redis.flushall();
      const total = (await idsIn("competition")).length;
      const first = await drawForLobby(jobs.deps, plan({ count: 5 }));
      const second = await drawForLobby(jobs.deps, plan({ count: total - 5 }));
      assert.ok(idsOf(second).every((id) => !idsOf(first).includes(id)));
      const third = await drawForLobby(jobs.deps, plan({ count: 5 }));
      assert.equal(third.length, 5);
    });

    it("shares no question between two simultaneous starts while other questions are left", async () => {
      await drawForLobby(jobs.deps, plan({ count: 10 }));
      jobs.use({ name: "mute", generate: () => Promise.resolve([]) });
      const half = Math.floor((await idsIn("competition")).length / 2);
      for (let round = 0; round < 5; round++) {
        await jobs.deps.redis.flushall();
        const draw = async () => idsOf(await drawForLobby(jobs.deps, plan({ count: half })));
        const drawn = (await Promise.all([draw(), draw()])).flat();
        assert.equal(new Set(drawn).size, 2 * half);
      }
    });
  });
});

describe("the name of a category", () => {
  it("is accepted in any case, with spaces or hyphens", () => {
    for (const name of ["video_games", "Video Games", "VIDEO-GAMES"])
      assert.equal(categoryOf(name, "category"), "video_games");
    assert.equal(categoryOf("Random", "category"), "random");
    assert.equal(categoryOf(null, "category"), null);
  });

  it("is refused with a problem for its field when unknown", () => {
    for (const name of ["", "knitting", "constructor"])
      assert.throws(
        () => categoryOf(name, "selected_categories[2]"),
        (error) =>
          error instanceof AppError &&
          error.status === 422 &&
          error.detail.violations?.[0]?.propertyPath === "selected_categories[2]",
      );
  });
});

describe("the automatic difficulty", () => {
  it("follows the level of the player", () => {
    const levels = [1, 2, 3, 5, 6, 9, 10, 14, 15, 99];
    assert.deepEqual(
      levels.map((level) => difficultyOf("auto", level)),
      [
        "easy",
        "easy",
        "medium",
        "medium",
        "hard",
        "hard",
        "undergrad",
        "undergrad",
        "masters",
        "masters",
      ],
    );
    assert.equal(difficultyOf("phd", 1), "phd");
  });
});
