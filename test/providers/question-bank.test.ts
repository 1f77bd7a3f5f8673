import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkQuestions } from "../../server/features/questions/providers/question-bank/check.ts";
import {
  createQuestionBank,
  listBank,
  starterQuestions,
} from "../../server/features/questions/providers/question-bank/index.ts";
import {
  categories,
  difficulties,
  normalizeText,
  type Category,
  type Difficulty,
  type GeneratedQuestion,
  type QuestionRequest,
} from "../../server/features/questions/providers/question-model.ts";
import { noOrigin } from "../../server/platform/origin.ts";

const ask = (change: Partial<QuestionRequest> = {}): QuestionRequest => ({
  category: "history",
  difficulty: "medium",
  prompt: null,
  model: null,
  count: 20,
  origin: noOrigin,
  exclude: new Set(),
  ...change,
});

const keysOf = (list: readonly GeneratedQuestion[]) => list.map((q) => normalizeText(q.question));

function countBy<T>(list: readonly T[], key: (one: T) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const one of list) counts.set(key(one), (counts.get(key(one)) ?? 0) + 1);
  return counts;
}

describe("the question bank", () => {
  it("passes the question checker with every question it can make, in total and per category", async () => {
    const all = await listBank();
    assert.ok(all.length >= 3_000, `${all.length} questions`);
    assert.deepEqual(checkQuestions(all), []);
    for (const category of categories)
      assert.deepEqual(checkQuestions(all.filter((q) => q.category === category)), [], category);
  });

  it("has 120 questions per category and 10 per category and difficulty", async () => {
    const all = await listBank();
    const byCategory = countBy(all, (q) => q.category);
    const byCell = countBy(all, (q) => `${q.category} ${q.difficulty}`);
    for (const category of categories) {
      assert.ok((byCategory.get(category) ?? 0) >= 120, category);
      for (const difficulty of difficulties)
        assert.ok(
          (byCell.get(`${category} ${difficulty}`) ?? 0) >= 10,
          `${category} ${difficulty}`,
        );
    }
  });

  it("returns the same questions for the same seed and another order for another seed", async () => {
    const [one, same, other] = await Promise.all(
      ["a", "a", "b"].map((seed) => createQuestionBank({ seed }).generate(ask())),
    );
    assert.deepEqual(one, same);
    assert.notDeepEqual(one, other);
  });

  it("returns new questions until none is left, then an empty list", async () => {
    const bank = createQuestionBank();
    for (const category of ["art", "mathematics"] as Category[]) {
      const all = (await listBank()).filter(
        (q) => q.category === category && q.difficulty === "hard",
      );
      const seen = new Set<string>();
      for (;;) {
        const batch = await bank.generate(
          ask({ category, difficulty: "hard", count: 7, exclude: seen }),
        );
        assert.ok(batch.length <= 7);
        if (batch.length === 0) break;
        for (const key of keysOf(batch)) {
          assert.ok(!seen.has(key), `${key} came twice`);
          seen.add(key);
        }
      }
      assert.equal(seen.size, all.length);
    }
  });

  it("matches a prompt by shared words, in any case, and returns nothing else", async () => {
    const bank = createQuestionBank();
    const prompts = difficulties.map((difficulty) =>
      bank.generate(ask({ difficulty, prompt: "please, questions about NAPOLEON!" })),
    );
    const found = (await Promise.all(prompts)).flat();
    assert.ok(found.length > 0);
    for (const q of found)
      assert.match(`${q.question} ${q.choices.join(" ")}`.toLowerCase(), /napoleon/);
    assert.deepEqual(await bank.generate(ask({ prompt: "zxqwv" })), []);
  });

  it("matches a prompt by its meaningful words, the best match first", async () => {
    const bank = createQuestionBank();
    const asked = { category: "music", prompt: "Who composed an opera about a flute?" } as const;
    const found = await Promise.all(
      difficulties.map((difficulty) => bank.generate(ask({ ...asked, difficulty }))),
    );
    assert.ok(found.flat().length > 0);
    for (const { question, choices, correctIndex } of found.flat())
      assert.match(`${question} ${choices[correctIndex]}`.toLowerCase(), /compos|opera|flute/);
    const flutes = await bank.generate(
      ask({ ...asked, difficulty: "easy", prompt: "what kind of opera is the magic flute" }),
    );
    assert.match(flutes[0]?.question ?? "", /The Magic Flute/);
    assert.deepEqual(await bank.generate(ask({ category: "music", prompt: "who was zxqwv?" })), []);
  });

  it("treats a prompt of filler words, or the category name, as no filter", async () => {
    const bank = createQuestionBank();
    const all = await bank.generate(ask());
    assert.equal((await bank.generate(ask({ prompt: "make it fun" }))).length, all.length);
    assert.equal((await bank.generate(ask({ prompt: "History" }))).length, all.length);
  });

  it("expects fewer correct answers for harder questions", async () => {
    const rateOf = async (difficulty: Difficulty) =>
      (await createQuestionBank().generate(ask({ difficulty, count: 1 })))[0]?.estimatedRate ?? 0;
    assert.ok((await rateOf("easy")) > (await rateOf("medium")));
    assert.ok((await rateOf("medium")) > (await rateOf("hard")));
    assert.ok((await rateOf("hard")) > (await rateOf("postdoc")));
  });

  it("computes the correct answers of arithmetic questions", async () => {
    const sums = (await listBank()).filter((q) => /^What is \d+ [+−×] \d+\?$/.test(q.question));
    assert.ok(sums.length > 20);
    for (const q of sums) {
      const [, a, sign, b] = /(\d+) ([+−×]) (\d+)/.exec(q.question) ?? [];
      const [x, y] = [Number(a), Number(b)];
      const right = sign === "+" ? x + y : sign === "−" ? x - y : x * y;
      assert.equal(q.choices[q.correctIndex], String(right), q.question);
    }
  });

  it("returns a starting stock with equal counts per category and difficulty", async () => {
    const stock = await starterQuestions(4);
    assert.equal(stock.length, categories.length * difficulties.length * 4);
    assert.equal(new Set(stock.map((q) => q.textKey)).size, stock.length);
  });

  it("builds a category once, at its first request", async () => {
    const bank = createQuestionBank();
    const [first, second] = [await bank.generate(ask()), await bank.generate(ask())];
    assert.ok(first.length > 0);
    for (const [at, { choices }] of first.entries()) assert.equal(second[at]?.choices, choices);
  });
});
