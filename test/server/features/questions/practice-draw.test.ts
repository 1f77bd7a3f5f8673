import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sql } from "kysely";
import { rowsOf } from "../../../../db/queries/rows.ts";
import { createQuestionBank } from "../../../../server/features/questions/providers/question-bank/index.ts";
import { categories } from "../../../../server/features/questions/providers/question-model.ts";
import {
  app,
  base,
  newPlayer,
  type Player,
  revealed,
  idsOf,
  codeOf,
  startsPracticeApp,
} from "./practice-app.ts";
import { noOrigin } from "../../../../server/platform/origin.ts";

interface Play {
  id: number;
  category: string;
  difficulty: string;
  question: string;
  payload: { choices: string[]; estimated_rate: number };
  is_cached: boolean;
  is_retry: boolean;
}

const draw = async (player: Player, query = "") =>
  app.client.get(`${base}/questions/draw?${query}`, { token: player.token });

const drawn = async (player: Player, query = "") => {
  const answer = await draw(player, query);
  assert.equal(answer.status, 200);
  return (answer.body as { question: Play | null }).question;
};

describe("questions of practice", () => {
  startsPracticeApp();

  describe("a draw", () => {
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
  });
  describe("the categories of a prompt", () => {
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
  });
  describe("the names of categories", () => {
    it("are all found by the words of the name", async () => {
      const bank = createQuestionBank();
      for (const category of categories) {
        if (category === "general_knowledge" || category === "pop_culture") continue;
        const found = await bank.categorize?.(category.replaceAll("_", " "), noOrigin);
        assert.equal(found?.[0], category);
      }
    });
  });
});
