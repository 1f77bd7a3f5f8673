import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { insertChallenge } from "../../../../db/queries/runs/challenges.ts";
import { seedQuestions } from "../../../../db/seeds/questions.ts";
import { createResponseCache } from "../../../../server/platform/cache/response-cache.ts";
import { AppError } from "../../../../server/platform/errors.ts";
import { datesDue } from "../../../../server/features/runs/domain/challenges.ts";
import { listLiveInLobbies, markLive } from "../../../../server/features/runs/domain/live.ts";
import { drawAtOnce, drawForLobby } from "../../../../server/features/questions/lobby-draw.ts";
import {
  createQuestionBank,
  starterQuestions,
} from "../../../../server/features/questions/providers/question-bank/index.ts";
import { categories } from "../../../../server/features/questions/providers/question-model.ts";
import { idsIn, idsOf, jobs, plan, startsDrawJobs } from "./draw-jobs.ts";

describe("drawing questions that have to be generated", () => {
  startsDrawJobs();

  describe("from the generator", () => {
    it("generates new questions instead of using those of current challenges", async () => {
      await drawForLobby(jobs.deps, plan({ count: 10 }));
      await jobs.deps.redis.flushall();
      const all = await idsIn("competition");
      const questionIds = all.slice(2);
      const [date = ""] = datesDue(Date.now());
      await insertChallenge(jobs.deps.em, { kind: "gauntlet", date, questionIds, at: new Date() });
      const deps = Object.defineProperties(Object.create(jobs.deps), {
        bodies: { value: createResponseCache() },
        questionBank: { value: mute },
      }) as typeof jobs.deps;
      const drawn = idsOf(await drawForLobby(deps, plan({ count: 6 })));
      assert.equal(drawn.length, 6);
      assert.deepEqual(
        drawn.filter((id) => questionIds.includes(id)),
        [],
      );
      // No new questions are available, and another lobby plays the rest: its questions come first.
      jobs.use(mute);
      const free = (await idsIn("competition")).length - questionIds.length;
      const again = idsOf(await drawForLobby(deps, plan({ count: free + 1 })));
      assert.equal(new Set(again).size, free + 1);
      assert.equal(again.filter((id) => questionIds.includes(id)).length, 1);
    });

    it("prefers questions that fit the prompt and fills up with others", async () => {
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

    it("limits generated questions per host and day, without affecting other hosts", async () => {
      const deps = Object.defineProperties(Object.create(jobs.deps), {
        config: { value: { ...jobs.deps.config, RATE_LIMIT_FACTOR: 2 / 60 } },
        questionBank: { value: mute },
      }) as typeof jobs.deps;
      const drawFor = (host: number, category: string) =>
        drawForLobby(deps, plan({ category, player_ids: [host, 3], count: 1 }));
      for (const category of ["art", "music"])
        assert.equal((await drawFor(1, category)).length, 1, "two batches");
      await assert.rejects(drawFor(1, "film"), { code: "generator:unavailable" });
      assert.equal((await drawFor(1, "art")).length, 1, "what is stored is for everybody");
      assert.equal((await drawFor(2, "film")).length, 1);
    });
  });
  describe("while the generator or the queue is unavailable", () => {
    it("is refused when no question is stored, generated or in the bank", async () => {
      jobs.use(mute);
      await assert.rejects(
        drawForLobby(withoutBank(), plan()),
        (error) => error instanceof AppError && error.code === "generator:unavailable",
      );
    });

    it("draws from the bank when the generator returns nothing", async () => {
      jobs.use(mute);
      const running = plan({ category: "nature", first_index: 10, count: 4 });
      const ahead = await drawForLobby(jobs.deps, running);
      assert.equal(ahead.length, 4);
      assert.ok(
        ahead.every(({ category, difficulty }) => `${category} ${difficulty}` === "nature medium"),
      );
      jobs.use({ name: "ill", generate: () => Promise.reject(new Error("ill")) });
      const exclude_ids = await idsIn("competition", "nature", "medium");
      const more = await drawForLobby(jobs.deps, { ...running, exclude_ids });
      assert.equal(more.length, 4);
      assert.ok(idsOf(more).every((id) => !exclude_ids.includes(id)));
    });

    it("draws stored questions and those of the bank while the queue is unavailable", async () => {
      const away = { enqueueAndWait: () => Promise.reject(new Error("away")) };
      const deps = Object.assign(Object.create(jobs.deps), away) as typeof jobs.deps;
      const running = plan({ category: "history", first_index: 10, count: 4 });
      assert.equal((await drawForLobby(deps, running)).length, 4);
      const bankless = Object.assign(withoutBank(), away);
      const more = idsOf(await drawForLobby(bankless, plan({ category: "history", count: 20 })));
      assert.ok(more.length > 0 && more.length < 20, "as far as there are any");
      assert.equal((await drawForLobby(deps, plan({ category: "history", count: 20 }))).length, 20);
      await assert.rejects(drawForLobby(bankless, plan()), { code: "generator:unavailable" });
    });

    it("without a generator draws stored questions at once, and the rest from the bank", async () => {
      const away = { enqueueAndWait: () => assert.fail("the generator was waited for") };
      const deps = Object.assign(Object.create(jobs.deps), away) as typeof jobs.deps;
      const running = plan({ category: "sports", first_index: 10, count: 3 });
      const first = await drawAtOnce(deps, running);
      assert.deepEqual([first.length, new Set(idsOf(first)).size], [3, 3]);
      const exclude_ids = idsOf(first);
      const other = await drawAtOnce(deps, { ...running, difficulty: "hard", exclude_ids });
      assert.ok(other.length > 0 && idsOf(other).every((id) => !exclude_ids.includes(id)));
    });

    it("draws at once without asking the language model for the topic of a prompt", async () => {
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

    it("finds nothing at once only when both bank and generator are empty", async () => {
      jobs.use(mute);
      const deps = withoutBank();
      const running = plan({ category: "film", first_index: 10, count: 3 });
      assert.deepEqual(await drawAtOnce(deps, running), []);
      await assert.rejects(drawForLobby(deps, running), { code: "generator:unavailable" });
      jobs.use(createQuestionBank());
      assert.equal((await drawAtOnce(deps, running)).length, 3);
    });

    it("tries again at once when the last try generated nothing", async () => {
      jobs.use(mute);
      const deps = withoutBank();
      await assert.rejects(drawForLobby(deps, plan({ count: 3 })));
      const animated = plan({ category: "film", prompt: "animated", difficulty: "easy", count: 1 });
      await assert.rejects(drawForLobby(deps, animated));
      jobs.use(createQuestionBank());
      assert.equal((await drawForLobby(deps, plan({ count: 3 }))).length, 3);
      const [fit] = await drawForLobby(deps, animated);
      assert.match(`${fit?.text} ${fit?.choices.join(" ")}`, /animated/);
    });

    it("skips a generator without new questions while stored ones suffice", async () => {
      const deps = withoutBank();
      await drawForLobby(deps, plan({ count: 10 }));
      let asked = 0;
      const countCalls = async () => {
        asked++;
        return [];
      };
      jobs.use({ name: "mute", generate: countCalls });
      const total = (await idsIn("competition")).length;
      for (const { prompt, times } of [
        { prompt: null, times: 1 },
        { prompt: "zxqwv", times: 2 },
      ])
        for (let start = 0; start < 4; start++) {
          const drawn = await drawForLobby(deps, plan({ prompt, count: total }));
          assert.deepEqual([new Set(idsOf(drawn)).size, asked], [total, times]);
        }
      // Too few questions, even including those others play, justify another request.
      jobs.use(createQuestionBank());
      const more = await drawForLobby(deps, plan({ count: total + 5 }));
      assert.equal(new Set(idsOf(more)).size, total + 5);
      jobs.use({ name: "mute", generate: countCalls });
      await jobs.deps.redis.del(await jobs.deps.redis.keys("made-nothing:*"));
      await drawForLobby(deps, plan({ count: total }));
      assert.equal(asked, 3);
    });
  });
  describe("for long games and many lobbies", () => {
    it("draws live questions again when all are live, but none twice in one game", async () => {
      await drawForLobby(withoutBank(), plan({ count: 10 }));
      jobs.use(mute);
      const total = (await idsIn("competition")).length;
      const drawn = await drawForLobby(withoutBank(), plan({ count: total }));
      assert.equal(new Set(idsOf(drawn)).size, total);
    });

    it("keeps a long game's questions of another difficulty out of lobbies with that difficulty", async () => {
      await drawForLobby(withoutBank(), plan({ difficulty: "hard", count: 10 }));
      await drawForLobby(withoutBank(), plan({ count: 10 }));
      await jobs.deps.redis.flushall();
      jobs.use(mute);
      const medium = (await idsIn("competition")).length;
      const hard = await idsIn("competition", "art", "hard");
      const long = idsOf(await drawForLobby(withoutBank(), plan({ count: medium + 2 })));
      const taken = hard.filter((id) => long.includes(id));
      assert.equal(taken.length, 2);
      const count = hard.length - 2;
      const other = idsOf(await drawForLobby(withoutBank(), plan({ difficulty: "hard", count })));
      assert.deepEqual(
        taken.filter((id) => other.includes(id)),
        [],
      );
      // And in reverse: a long game is not filled with questions that the hard game plays.
      const last = idsOf(await drawForLobby(withoutBank(), plan({ count: 1 })));
      assert.deepEqual(
        last.filter((id) => hard.includes(id)),
        [],
      );
    });

    it("keeps the questions of a long game live until the game can have played them", async () => {
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

    it("serves every one of many simultaneous lobbies", async () => {
      const lobbies = await Promise.all(
        Array.from({ length: 12 }, () =>
          drawForLobby(jobs.deps, plan({ category: null, count: 10 })),
        ),
      );
      for (const drawn of lobbies) assert.equal(new Set(idsOf(drawn)).size, 10);
    });

    it("starts from a seeded stock, stored once by several concurrent instances", async () => {
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
  });
});

const mute = { name: "mute", generate: async () => [] };

const withoutBank = () =>
  Object.defineProperty(Object.create(jobs.deps), "questionBank", {
    value: mute,
  }) as typeof jobs.deps;
