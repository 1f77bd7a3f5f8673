import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { rowsOf } from "../../../../db/queries/rows.ts";
import { seedQuestions } from "../../../../db/seeds/questions.ts";
import {
  createQuestionBank,
  starterQuestions,
} from "../../../../server/features/questions/providers/question-bank/index.ts";
import { categories } from "../../../../server/features/questions/providers/question-model.ts";
import { startApp, type App } from "../../../support/app.ts";
import { loseAnswer } from "../../../support/lost-answer.ts";
import { enter } from "../../../support/identity.ts";

interface Play {
  id: number;
  category: string;
  difficulty: string;
  question: string;
  payload: { choices: string[]; estimated_rate: number };
  is_cached: boolean;
  is_retry: boolean;
}

interface Session {
  id: number;
  total_points: number;
  total_correct: number;
  total_answered: number;
  current_streak: number;
  best_streak: number;
  current_multiplier: number;
  created_at: string;
  updated_at: string;
  ended_at: string | null;
}

interface Reveal {
  is_correct: boolean;
  answer: number;
  explanation: string;
  correct_rate: number;
  num_served: number;
  xp_gained: number;
  session: Session;
  was_previously_wrong: boolean;
}

const base = "/v1/games/trivia";
const startedAt = Date.UTC(2026, 5, 1, 12);
let app: App;
let now = startedAt;

const newPlayer = async () => {
  const session = await enter(app);
  return { token: session.access_token, id: session.player.id };
};

type Player = Awaited<ReturnType<typeof newPlayer>>;

const draw = async (player: Player, query = "") =>
  app.client.get(`${base}/questions/draw?${query}`, { token: player.token });

const drawn = async (player: Player, query = "") => {
  const answer = await draw(player, query);
  assert.equal(answer.status, 200);
  return (answer.body as { question: Play | null }).question;
};

const answer = (player: Player, id: number | string, body: unknown, headers = {}) =>
  app.client.post(`${base}/questions/${id}/answer`, { token: player.token, body, headers });

const revealed = async (player: Player, id: number, body: object) => {
  const result = await answer(player, id, body);
  assert.equal(result.status, 200);
  return result.body as Reveal;
};

const idsOf = (filter: { category: string; difficulty: string; pool?: string }) =>
  rowsOf(
    app.deps.em,
    sql<{ id: number; right: number }>`select id, correct_index as right from questions
        where category = ${filter.category} and difficulty = ${filter.difficulty}
          and pool = ${filter.pool ?? "public"} and retired_at is null order by id`,
  );

const codeOf = (response: { json: unknown }) =>
  (response.json as { flash?: { errors?: { code: string }[] } }).flash?.errors?.[0]?.code;

describe("practice", () => {
  before(async () => {
    app = await startApp({ clock: { now: () => now } });
    await seedQuestions(app.deps.em, () => starterQuestions(4));
  });
  after(() => app.stop());

  describe("an answer", answers);
  describe("a draw", drawTests);
  describe("the categories of a prompt", categoriesPrompt);
  describe("the names of categories", namesCategories);
});

function answers(): void {
  describe("is rewarded", rewarded);
  describe("counts once", countsOnce);
  describe("is refused", refusedTests);
}

function rewarded(): void {
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
    assert.deepEqual([corrected.session.total_points, corrected.session.current_streak], [375, 0]);
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
    now += 25 * 60_000;
    assert.equal((await give()).session.id, first.id);
    now += 31 * 60_000;
    const second = (await give()).session;
    assert.notEqual(second.id, first.id);
    assert.equal(second.total_answered, 1);
    const [ended] = await rowsOf(
      app.deps.em,
      sql<{ at: number }>`select extract(epoch from ended_at)::int as at from play_sessions
          where id = ${first.id}`,
    );
    assert.equal(ended?.at, (now - 31 * 60_000) / 1_000);
    await app.client.post(`${base}/session/end`, { token: player.token });
    assert.notEqual((await give()).session.id, second.id);
  });
}

function countsOnce(): void {
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
    const last = all.toSorted((a, b) => a.session.total_answered - b.session.total_answered).at(-1);
    assert.equal(new Set(all.map((one) => one.session.id)).size, 1);
    assert.equal(last?.session.total_answered, list.length * 3);
    assert.equal(last.session.current_streak, list.length);
    assert.equal(
      all.reduce((sum, one) => sum + one.xp_gained, 0),
      10 * list.length,
    );
  });
}

function refusedTests(): void {
  it("is refused for an unknown question and for one of the competition pool", async () => {
    const player = await newPlayer();
    const [secret] = await idsOf({ category: "art", difficulty: "easy", pool: "competition" });
    for (const id of [secret?.id ?? 0, 0, -1, 2_147_483_647, 2_147_483_648, "1e3", "x", 1.5]) {
      const refused = await answer(player, id, { selected_index: 0 });
      assert.deepEqual([refused.status, codeOf(refused)], [404, "question:not_found"], String(id));
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
}

function drawTests(): void {
  it("returns an unseen public question in its play form, without its answer", async () => {
    const player = await newPlayer();
    const answer_ = await draw(player, "category=Food%20and-Drink&difficulty=hard");
    const { question } = answer_.body as { question: Play };
    assert.deepEqual(Object.keys(question).sort(), [
      "category",
      "difficulty",
      "id",
      "is_cached",
      "is_retry",
      "payload",
      "question",
      "type",
    ]);
    assert.deepEqual(
      [question.category, question.difficulty, question.is_cached, question.is_retry],
      ["food_and_drink", "hard", true, false],
    );
    const publics = await idsOf({ category: "food_and_drink", difficulty: "hard" });
    assert.ok(publics.some(({ id }) => id === question.id));
    const own = publics.find(({ id }) => id === question.id);
    assert.ok(own);
    await revealed(player, own.id, { selected_index: own.right });
    const next = await drawn(player, "category=food_and_drink&difficulty=hard");
    assert.notEqual(next?.id, own.id, "a question is seen when it was answered");
  });

  it("generates questions when all are answered, and reports them as new", async () => {
    const player = await newPlayer();
    const filter = { category: "mythology", difficulty: "phd" };
    const stored = await idsOf(filter);
    for (const { id, right } of stored) await revealed(player, id, { selected_index: right });
    const made = await drawn(player, "category=mythology&difficulty=phd");
    assert.ok(made && !stored.some(({ id }) => id === made.id));
    assert.equal(made.is_cached, false);
    assert.ok((await idsOf(filter)).length > stored.length);
  });

  it("serves named categories in the given order while questions last", async () => {
    const player = await newPlayer();
    const seen: string[] = [];
    for (let n = 0; n < 4; n++) {
      const question = await drawn(player, "categories=religion,politics&difficulty=postdoc");
      assert.ok(question);
      seen.push(question.category);
      await revealed(player, question.id, { selected_index: 0 });
    }
    assert.deepEqual(seen, ["religion", "religion", "politics", "politics"]);
  });

  it("mixes categories when blended or when none is named, and merges `category` into `categories`", async () => {
    const player = await newPlayer();
    const seenBy = async (query: string, times: number) => {
      const found = await Promise.all(Array.from({ length: times }, () => drawn(player, query)));
      return new Set(found.map((question) => question?.category));
    };
    const blended = await seenBy("categories=art,film&category=music&blend", 40);
    assert.deepEqual([...blended].sort(), ["art", "film", "music"]);
    assert.ok((await seenBy("", 40)).size > 5);
    assert.ok((await seenBy("category=random", 40)).size > 5);
  });

  it("resolves auto by the player's level in the category", async () => {
    const player = await newPlayer();
    assert.equal((await drawn(player, "category=art"))?.difficulty, "easy");
    await rowsOf(app.deps.em, sql`insert into player_stats (player_id) values (${player.id})`);
    for (const [xp, difficulty] of [
      [250, "medium"],
      [1_000, "hard"],
      [2_700, "undergrad"],
      [6_000, "masters"],
    ] as const) {
      await rowsOf(
        app.deps.em,
        sql`insert into player_category_stats (player_id, category, xp)
            values (${player.id}, 'art', ${xp})
            on conflict (player_id, category) do update set xp = excluded.xp`,
      );
      assert.equal((await drawn(player, "category=art"))?.difficulty, difficulty);
      assert.equal((await drawn(player, "category=film"))?.difficulty, "easy");
    }
  });

  it("repeats questions whose last answer was wrong, the oldest first", async () => {
    const player = await newPlayer();
    assert.equal(await drawn(player, "retry=true"), null);
    const all = [
      ...(await idsOf({ category: "history", difficulty: "easy" })),
      ...(await idsOf({ category: "film", difficulty: "easy" })),
    ];
    for (const { id } of all) await revealed(player, id, { selected_index: -1 });
    const [first, second, third] = all;
    assert.ok(first && second && third);
    const again = await drawn(player, "retry=true");
    assert.deepEqual([again?.id, again?.is_retry, again?.is_cached], [first.id, true, true]);
    assert.equal((await drawn(player, "retry=1&category=film"))?.id, third.id);
    assert.equal(await drawn(player, "retry&category=film&difficulty=hard"), null);
    await revealed(player, first.id, { selected_index: first.right });
    assert.equal((await drawn(player, "retry=true"))?.id, second.id);
    await revealed(player, second.id, { selected_index: -1 });
    assert.equal((await drawn(player, "retry=true"))?.id, third.id);
  });

  it("finds questions that match a prompt, or none", async () => {
    const player = await newPlayer();
    const found = await drawn(player, "prompt=who+composed+an+opera&difficulty=medium");
    const [row] = await rowsOf(
      app.deps.em,
      sql<{
        text: string;
      }>`select row_to_json(questions)::text as text from questions where id = ${found?.id}`,
    );
    assert.match(row?.text ?? "", /compos|opera/i);
    assert.equal(await drawn(player, "prompt=zxqwv&difficulty=medium"), null);
    assert.ok(await drawn(player, "prompt=%20%20"), "a blank prompt is none");
  });

  it("returns null when no question is left and none can be generated", async () => {
    const player = await newPlayer();
    const model = app.deps.questionModel;
    app.deps.questionModel = { name: "mute", generate: async () => [] };
    try {
      const list = await idsOf({ category: "television", difficulty: "postdoc" });
      for (const { id } of list) await revealed(player, id, { selected_index: 0 });
      const query = "category=television&difficulty=postdoc";
      assert.equal(await drawn(player, query), null);
    } finally {
      app.deps.questionModel = model;
    }
  });

  it("is refused with an invalid parameter, and without a credential", async () => {
    const player = await newPlayer();
    for (const [query, parameter] of [
      ["categories=art,nonsense", "categories"],
      ["category=nonsense", "category"],
      ["difficulty=brutal", "difficulty"],
      ["prompt=%3Cb%3E", "prompt"],
      [`prompt=${"a".repeat(501)}`, "prompt"],
      ["retry=maybe", "retry"],
    ] as const) {
      const refused = await draw(player, query);
      assert.deepEqual([refused.status, codeOf(refused)], [400, "request:invalid_query"], query);
      const { flash } = refused.json as { flash: { errors: { params: object }[] } };
      assert.deepEqual(flash.errors[0]?.params, { parameter });
    }
    assert.equal((await app.client.get(`${base}/questions/draw`)).status, 401);
  });
}

function categoriesPrompt(): void {
  const categorize = async (prompt: unknown) =>
    app.client.post(`${base}/categorize`, { body: { prompt } });
  const keys = async (prompt: string) => {
    const answer_ = await categorize(prompt);
    assert.equal(answer_.status, 200);
    return (answer_.body as { categories: string[] }).categories;
  };

  it("are sorted by relevance, by subject and by the questions of the bank", async () => {
    for (const [prompt, first] of [
      ["The physics of black holes", "science"],
      ["Kings and wars of the Middle Ages", "history"],
      ["capital cities of Europe", "geography"],
      ["Mozart and Beethoven", "music"],
      ["Picasso, Monet and Botticelli", "art"],
      ["Nintendo", "video_games"],
      ["football world cup", "sports"],
      ["Zeus, Thor and the other gods", "mythology"],
      ["French cheese and wine", "food_and_drink"],
    ] as const)
      assert.equal((await keys(prompt))[0], first, prompt);
    const several = await keys("music, film, art, history, science, sports, food");
    assert.equal(several.length, 5);
  });

  it("fall back to general knowledge when nothing fits and when the generator fails", async () => {
    assert.deepEqual(await keys("zxqwv"), ["general_knowledge"]);
    const model = app.deps.questionModel;
    const generate = () => Promise.resolve([]);
    try {
      for (const categorize_ of [
        () => Promise.reject(new Error("away")),
        () => Promise.resolve([]),
      ]) {
        app.deps.questionModel = { name: "ill", generate, categorize: categorize_ };
        assert.deepEqual(await keys("Mozart"), ["general_knowledge"]);
      }
    } finally {
      app.deps.questionModel = model;
    }
  });

  it("are refused for an invalid prompt", async () => {
    for (const prompt of [undefined, "", " \n\t", "a".repeat(501), "<b>", 7, null])
      assert.equal((await categorize(prompt)).status, 422, String(prompt));
  });
}

function namesCategories(): void {
  it("are all found by the words of the name", async () => {
    const bank = createQuestionBank();
    for (const category of categories) {
      if (category === "general_knowledge" || category === "pop_culture") continue;
      const found = await bank.categorize?.(category.replaceAll("_", " "));
      assert.equal(found?.[0], category);
    }
  });
}
