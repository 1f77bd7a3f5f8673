import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { sql } from "kysely";
import type { DrawPlan } from "../../../../actors/index.ts";
import { insertChallenge } from "../../../../db/queries/runs/challenges.ts";
import { insertAnswers } from "../../../../db/queries/questions/question-answers.ts";
import { rowsOf } from "../../../../db/queries/rows.ts";
import { seedQuestions } from "../../../../db/seeds/questions.ts";
import { createResponseCache } from "../../../../server/platform/cache/response-cache.ts";
import { AppError } from "../../../../server/platform/errors.ts";
import { datesDue } from "../../../../server/features/runs/domain/challenges.ts";
import { listLiveInLobbies, markLive } from "../../../../server/features/runs/domain/live.ts";
import {
  categoryOf,
  drawAhead,
  drawAtOnce,
  drawForLobby,
} from "../../../../server/features/questions/service.ts";
import { difficultyOf } from "../../../../server/features/questions/categories.ts";
import {
  createQuestionBank,
  starterQuestions,
} from "../../../../server/features/questions/providers/question-bank/index.ts";
import { categories } from "../../../../server/features/questions/providers/question-model.ts";
import { startQuestionJobs, type QuestionJobs } from "../../../support/question-jobs.ts";

const plan = (change: Partial<DrawPlan> = {}): DrawPlan => ({
  revision: 0,
  category: "art",
  selected_categories: [],
  difficulty: "medium",
  prompt: null,
  blend: false,
  count: 10,
  player_ids: [],
  exclude_ids: [],
  first_index: 0,
  ...change,
});

let jobs: QuestionJobs;
const idsOf = (list: readonly { id: number }[]) => list.map((one) => one.id);

const idsIn = async (pool: string, category = "art", difficulty = "medium") =>
  (
    await rowsOf(
      jobs.deps.em,
      sql<{ id: number }>`select id from questions
          where pool = ${pool} and category = ${category} and difficulty = ${difficulty} order by id`,
    )
  ).map((row) => row.id);

describe("drawing questions for a lobby", () => {
  before(async () => {
    jobs = await startQuestionJobs();
  });
  beforeEach(async () => {
    jobs.use(createQuestionBank());
    await jobs.deps.redis.flushall();
    await rowsOf(jobs.deps.em, sql`truncate questions, challenges restart identity cascade`);
  });
  after(() => jobs.stop());

  describe("from categories", fromCategories);
  describe("that players know least", playersKnowLeast);
  describe("that are made", made);
  describe("while the generator or the queue is away", whileGeneratorOrQueue);
  describe("of long games and many lobbies", longGamesManyLobbies);
});

function fromCategories(): void {
  it("makes the questions on a miss and says that they are new, then that they are cached", async () => {
    const first = await drawForLobby(jobs.deps, plan());
    assert.equal(first.length, 10);
    assert.ok(first.every((q) => !q.isCached && q.category === "art" && q.difficulty === "medium"));
    await jobs.deps.redis.flushall();
    const second = await drawForLobby(jobs.deps, plan({ count: 5 }));
    assert.ok(second.every((q) => q.isCached));
  });

  it("takes from the competition pool alone and never the same question twice", async () => {
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

  it("plays selected categories block by block in the order given", async () => {
    const selected_categories = ["music", "film", "history"];
    const drawn = await drawForLobby(jobs.deps, plan({ selected_categories, count: 6 }));
    assert.deepEqual(
      drawn.map((q) => q.category),
      ["music", "music", "film", "film", "history", "history"],
    );
  });

  it("leaves out no selected category for which there is a place", async () => {
    const selected_categories = ["music", "film", "history", "nature"];
    for (const [count, played] of [
      [5, "music music film history nature"],
      [3, "music film history"],
    ] as const) {
      const drawn = await drawForLobby(jobs.deps, plan({ selected_categories, count }));
      assert.equal(drawn.map((q) => q.category).join(" "), played);
    }
  });

  it("mixes selected categories round-robin when blended, a later batch going on in turn", async () => {
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

  it("draws over all categories when none or random is named", async () => {
    for (const category of [null, "random"]) {
      const drawn = await drawForLobby(jobs.deps, plan({ category, count: 30 }));
      assert.equal(drawn.length, 30);
      assert.ok(new Set(drawn.map((q) => q.category)).size >= 5);
    }
  });

  it("draws over the categories a prompt is about when none is named, over all when about none", async () => {
    const prompt = "capital cities, or the planets";
    for (const change of [{}, { category: "random" }, { selected_categories: ["random"] }]) {
      const drawn = await drawForLobby(jobs.deps, plan({ category: null, prompt, ...change }));
      assert.equal(drawn.length, 10);
      const others = drawn.filter((q) => q.category !== "geography" && q.category !== "science");
      assert.deepEqual(others, []);
    }
    const named = await drawForLobby(jobs.deps, plan({ prompt, count: 3 }));
    assert.ok(named.every((q) => q.category === "art"));
    const any = await drawForLobby(jobs.deps, plan({ category: null, prompt: "zxqwv", count: 30 }));
    assert.ok(new Set(any.map((q) => q.category)).size >= 5);
  });

  it("reads auto and no difficulty as medium", async () => {
    for (const difficulty of ["auto", null]) {
      const drawn = await drawForLobby(jobs.deps, plan({ difficulty, count: 2 }));
      assert.deepEqual(
        drawn.map((q) => q.difficulty),
        ["medium", "medium"],
      );
    }
  });
}

function playersKnowLeast(): void {
  it("prefers what no seated player has answered", async () => {
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

  it("says what a right answer is still worth to players who have answered the question", async () => {
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

  it("takes what is live in another lobby only when nothing else is left", async () => {
    await drawForLobby(jobs.deps, plan({ count: 10 }));
    await jobs.deps.redis.flushall();
    const total = (await idsIn("competition")).length;
    const first = await drawForLobby(jobs.deps, plan({ count: 5 }));
    const second = await drawForLobby(jobs.deps, plan({ count: total - 5 }));
    assert.ok(idsOf(second).every((id) => !idsOf(first).includes(id)));
    const third = await drawForLobby(jobs.deps, plan({ count: 5 }));
    assert.equal(third.length, 5);
  });

  it("gives two lobbies that start at the same moment no question in common while there are others", async () => {
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
}

function made(): void {
  it("makes new ones rather than play what a challenge of these days asks", async () => {
    await drawForLobby(jobs.deps, plan({ count: 10 }));
    await jobs.deps.redis.flushall();
    const all = await idsIn("competition");
    const questionIds = all.slice(2);
    const [date = ""] = datesDue(Date.now());
    await insertChallenge(jobs.deps.em, { kind: "gauntlet", date, questionIds, at: new Date() });
    const deps = Object.defineProperty(Object.create(jobs.deps), "bodies", {
      value: createResponseCache(),
    }) as typeof jobs.deps;
    const drawn = idsOf(await drawForLobby(deps, plan({ count: 6 })));
    assert.equal(drawn.length, 6);
    assert.deepEqual(
      drawn.filter((id) => questionIds.includes(id)),
      [],
    );
    // Nothing new to be had, and another lobby plays the rest: theirs come first.
    jobs.use({ name: "mute", generate: () => Promise.resolve([]) });
    const free = (await idsIn("competition")).length - questionIds.length;
    const again = idsOf(await drawForLobby(deps, plan({ count: free + 1 })));
    assert.equal(new Set(again).size, free + 1);
    assert.equal(again.filter((id) => questionIds.includes(id)).length, 1);
  });

  it("puts questions that fit the prompt first and fills up with others", async () => {
    const drawn = await drawForLobby(
      jobs.deps,
      plan({ category: "film", prompt: "animated", difficulty: "easy" }),
    );
    assert.equal(drawn.length, 10);
    const text = (q: (typeof drawn)[number]) => `${q.text} ${q.choices.join(" ")}`;
    const isFit = drawn.map((q) => /animated/.test(text(q)));
    assert.equal(isFit[0], true);
    const none = await drawForLobby(jobs.deps, plan({ prompt: "zxqwv", count: 3 }));
    assert.equal(none.length, 3);
  });

  it("makes so many for one host a day, and the others still have theirs", async () => {
    const deps = Object.defineProperty(Object.create(jobs.deps), "config", {
      value: { ...jobs.deps.config, RATE_LIMIT_FACTOR: 2 / 60 },
    }) as typeof jobs.deps;
    const drawFor = (host: number, category: string) =>
      drawForLobby(deps, plan({ category, player_ids: [host, 3], count: 1 }));
    for (const category of ["art", "music"])
      assert.equal((await drawFor(1, category)).length, 1, "two batches");
    await assert.rejects(drawFor(1, "film"), { code: "generator:unavailable" });
    assert.equal((await drawFor(1, "art")).length, 1, "what is stored is for everybody");
    assert.equal((await drawFor(2, "film")).length, 1);
  });
}

function whileGeneratorOrQueue(): void {
  it("is refused when there is nothing stored and nothing made", async () => {
    jobs.use({ name: "mute", generate: () => Promise.resolve([]) });
    await assert.rejects(
      drawForLobby(jobs.deps, plan()),
      (error) => error instanceof AppError && error.code === "generator:unavailable",
    );
  });

  it("goes on with the bank in a running game when the generator makes nothing", async () => {
    jobs.use({ name: "mute", generate: () => Promise.resolve([]) });
    const running = plan({ category: "nature", first_index: 10, count: 4 });
    const ahead = await drawAhead(jobs.deps, running);
    assert.equal(ahead.length, 4);
    assert.ok(
      ahead.every(({ category, difficulty }) => `${category} ${difficulty}` === "nature medium"),
    );
    jobs.use({ name: "ill", generate: () => Promise.reject(new Error("ill")) });
    const exclude_ids = await idsIn("competition", "nature", "medium");
    const more = await drawAhead(jobs.deps, { ...running, exclude_ids });
    assert.equal(more.length, 4);
    assert.ok(idsOf(more).every((id) => !exclude_ids.includes(id)));
  });

  it("goes on with the bank, and starts with what is stored, while the queue is away", async () => {
    const deps = Object.assign(Object.create(jobs.deps), {
      enqueueAndWait: () => Promise.reject(new Error("away")),
    }) as typeof jobs.deps;
    const running = plan({ category: "history", first_index: 10, count: 4 });
    const ahead = await drawAhead(deps, running);
    assert.equal(ahead.length, 4);
    const more = idsOf(await drawForLobby(deps, plan({ category: "history", count: 20 })));
    assert.ok(more.length > 0 && more.length < 20, "as far as there are any");
    await assert.rejects(drawForLobby(deps, plan()), { code: "generator:unavailable" });
  });

  it("draws at once what is stored, and of the bank what is not, without a generator", async () => {
    const away = { enqueueAndWait: () => assert.fail("the generator was waited for") };
    const deps = Object.assign(Object.create(jobs.deps), away) as typeof jobs.deps;
    const running = plan({ category: "sports", first_index: 10, count: 3 });
    const first = await drawAtOnce(deps, running);
    assert.deepEqual([first.length, new Set(idsOf(first)).size], [3, 3]);
    const exclude_ids = idsOf(first);
    const other = await drawAtOnce(deps, { ...running, difficulty: "hard", exclude_ids });
    assert.ok(other.length > 0 && idsOf(other).every((id) => !exclude_ids.includes(id)));
  });

  it("draws at once without asking the language model what a prompt is about", async () => {
    let numAsked = 0;
    const categorize = async () => {
      numAsked++;
      return [];
    };
    jobs.use({ name: "slow", generate: async () => [], categorize });
    const running = plan({ category: null, prompt: "zxqwv", first_index: 10, count: 3 });
    assert.equal((await drawAtOnce(jobs.deps, running)).length, 3);
    assert.equal(numAsked, 0);
  });

  it("has nothing at once only when neither bank nor generator has anything", async () => {
    jobs.use({ name: "mute", generate: () => Promise.resolve([]) });
    const questionBank = { name: "mute", generate: async () => [] };
    const deps = Object.defineProperty(Object.create(jobs.deps), "questionBank", {
      value: questionBank,
    }) as typeof jobs.deps;
    const running = plan({ category: "film", first_index: 10, count: 3 });
    assert.deepEqual(await drawAtOnce(deps, running), []);
    await assert.rejects(drawAhead(deps, running), { code: "generator:unavailable" });
    jobs.use(createQuestionBank());
    assert.equal((await drawAtOnce(deps, running)).length, 3);
  });

  it("tries again at once when the last try made nothing", async () => {
    jobs.use({ name: "mute", generate: () => Promise.resolve([]) });
    await assert.rejects(drawForLobby(jobs.deps, plan({ count: 3 })));
    const animated = plan({ category: "film", prompt: "animated", difficulty: "easy", count: 1 });
    await assert.rejects(drawForLobby(jobs.deps, animated));
    jobs.use(createQuestionBank());
    assert.equal((await drawForLobby(jobs.deps, plan({ count: 3 }))).length, 3);
    const [fit] = await drawForLobby(jobs.deps, animated);
    assert.match(`${fit?.text} ${fit?.choices.join(" ")}`, /animated/);
  });

  it("leaves a generator that had nothing new alone while stored questions serve", async () => {
    await drawForLobby(jobs.deps, plan({ count: 10 }));
    let asked = 0;
    const mute = async () => {
      asked++;
      return [];
    };
    jobs.use({ name: "mute", generate: mute });
    const total = (await idsIn("competition")).length;
    for (const { prompt, times } of [
      { prompt: null, times: 1 },
      { prompt: "zxqwv", times: 2 },
    ])
      for (let start = 0; start < 4; start++) {
        const drawn = await drawForLobby(jobs.deps, plan({ prompt, count: total }));
        assert.deepEqual([new Set(idsOf(drawn)).size, asked], [total, times]);
      }
    // What is too little even with what others play is reason enough to ask again.
    jobs.use(createQuestionBank());
    const more = await drawForLobby(jobs.deps, plan({ count: total + 5 }));
    assert.equal(new Set(idsOf(more)).size, total + 5);
    jobs.use({ name: "mute", generate: mute });
    await jobs.deps.redis.del(await jobs.deps.redis.keys("made-nothing:*"));
    await drawForLobby(jobs.deps, plan({ count: total }));
    assert.equal(asked, 3);
  });
}

function longGamesManyLobbies(): void {
  it("draws live questions again when all are live, but none twice in one game", async () => {
    await drawForLobby(jobs.deps, plan({ count: 10 }));
    jobs.use({ name: "mute", generate: () => Promise.resolve([]) });
    const total = (await idsIn("competition")).length;
    const drawn = await drawForLobby(jobs.deps, plan({ count: total }));
    assert.equal(new Set(idsOf(drawn)).size, total);
  });

  it("leaves what a long game took of another difficulty out of the lobbies of that one", async () => {
    await drawForLobby(jobs.deps, plan({ difficulty: "hard", count: 10 }));
    await drawForLobby(jobs.deps, plan({ count: 10 }));
    await jobs.deps.redis.flushall();
    jobs.use({ name: "mute", generate: () => Promise.resolve([]) });
    const medium = (await idsIn("competition")).length;
    const hard = await idsIn("competition", "art", "hard");
    const long = idsOf(await drawForLobby(jobs.deps, plan({ count: medium + 2 })));
    const taken = hard.filter((id) => long.includes(id));
    assert.equal(taken.length, 2);
    const count = hard.length - 2;
    const other = idsOf(await drawForLobby(jobs.deps, plan({ difficulty: "hard", count })));
    assert.deepEqual(
      taken.filter((id) => other.includes(id)),
      [],
    );
    // And the other way round: what the hard game plays is not what a long one is filled up with.
    const last = idsOf(await drawForLobby(jobs.deps, plan({ count: 1 })));
    assert.deepEqual(
      last.filter((id) => hard.includes(id)),
      [],
    );
  });

  it("keeps the questions of a long game live until it may have played them", async () => {
    let nowMs = Date.now();
    const deps = Object.defineProperty(Object.create(jobs.deps), "clock", {
      value: { now: () => nowMs },
    }) as typeof jobs.deps;
    await markLive(deps, "art", "medium", [1, 2], 40);
    await markLive(deps, "art", "medium", [3], 5);
    const live = async () => (await listLiveInLobbies(deps, "art", "medium")).sort();
    assert.deepEqual(await live(), [1, 2, 3]);
    nowMs += 31 * 60_000;
    assert.deepEqual(await live(), [1, 2], "the short game is over");
    nowMs += 28 * 60_000;
    assert.deepEqual(await live(), [1, 2]);
    nowMs += 2 * 60_000;
    assert.deepEqual(await live(), []);
  });

  it("gives each of many simultaneous lobbies its questions", async () => {
    const lobbies = await Promise.all(
      Array.from({ length: 12 }, () =>
        drawForLobby(jobs.deps, plan({ category: null, count: 10 })),
      ),
    );
    for (const drawn of lobbies) assert.equal(new Set(idsOf(drawn)).size, 10);
  });

  it("starts from a seeded stock, stored once by several instances at once", async () => {
    const make = () => starterQuestions(4);
    const added = await Promise.all([1, 2, 3].map(() => seedQuestions(jobs.deps.em, make)));
    assert.equal(
      added.reduce((sum, count) => sum + count, 0),
      categories.length * 40,
    );
    assert.equal(await seedQuestions(jobs.deps.em, make), 0);
    assert.equal((await idsIn("public")).length, 2);
    assert.equal((await idsIn("competition")).length, 2);
    const drawn = await drawForLobby(jobs.deps, plan({ count: 2 }));
    assert.ok(drawn.every((q) => q.isCached));
  });
}

describe("the name of a category", () => {
  it("is known in any case, with spaces or hyphens", () => {
    for (const name of ["video_games", "Video Games", "VIDEO-GAMES"])
      assert.equal(categoryOf(name, "category"), "video_games");
    assert.equal(categoryOf("Random", "category"), "random");
    assert.equal(categoryOf(null, "category"), null);
  });

  it("is refused as a problem of its field when unknown", () => {
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
