import {
  categories,
  normalizeText,
  type Category,
  type GeneratedQuestion,
  type QuestionModel,
  type QuestionRequest,
} from "../question-model.ts";
import type { BankQuestion, QuestionsByDifficulty } from "./grade.ts";
import { loadCategory } from "./category-questions.ts";
import { subjectsOf } from "./subjects.ts";

export const bankSeed = "emberline";

/**
 * The default generator, which works without a network (TRV-03). It builds a category at its first use and caches it.
 * With a prompt it returns only questions that share a word with the prompt, best match first; the result may be empty.
 */
export function createQuestionBank({ seed = bankSeed }: { seed?: string } = {}): QuestionModel {
  const loaded = new Map<Category, Promise<QuestionsByDifficulty>>();
  const load = (category: Category) => {
    const known = loaded.get(category) ?? loadCategory(category, seed);
    loaded.set(category, known);
    return known;
  };
  return {
    name: "bank",
    async generate(request) {
      const byDifficulty = await load(request.category);
      const all = byDifficulty.get(request.difficulty) ?? [];
      const unseen = matching(all, request).filter(({ key }) => !request.exclude.has(key));
      return unseen.slice(0, request.count).map(withoutKey);
    },
    categorize: async (prompt) => subjectsOf(prompt),
  };
}

/** Everything the bank can make, for checks and seeds. */
export async function listBank(seed = bankSeed) {
  const all = await Promise.all(
    categories.map(async (category) => [category, await loadCategory(category, seed)] as const),
  );
  return all.flatMap(([category, byDifficulty]) =>
    [...byDifficulty].flatMap(([difficulty, list]) =>
      list.map((entry) => ({ category, difficulty, ...withoutKey(entry) })),
    ),
  );
}

/** A first stock for an empty database: `perCell` of each category and difficulty, ready to store. */
export async function starterQuestions(perCell: number, seed = bankSeed) {
  const taken = new Map<string, number>();
  const all = await listBank(seed);
  const chosen = all.filter(({ category, difficulty }) => {
    const cell = `${category}:${difficulty}`;
    const count = (taken.get(cell) ?? 0) + 1;
    taken.set(cell, count);
    return count <= perCell;
  });
  return chosen.map((q) => ({ ...q, textKey: normalizeText(q.question), source: "bank" }));
}

function withoutKey({ key: _, ...question }: BankQuestion): GeneratedQuestion {
  return question;
}

const shortestWord = 3;
const mostWords = 32;
/** Stem of a word: opera, operas; composed, composer. */
const ending = /(?<=\p{L}{4})(?:ing|ers?|ed|es|s)$/u;
/** Stop words. */
const fillWords = new Set(
  (
    "about after all also and any are ask been before best but can could did does easy ever first for from fun " +
    "game get give had hard has have her him his how into its just know known like made make many more most much " +
    "name named not one only other our please question questions quiz she should some such tell than that the " +
    "their them theme then there these they thing things this those trivia two under used very want was were what " +
    "when where which while who whom whose why will with would you your"
  ).split(" "),
);

/** Minimum share of the best score; lower scores do not fit the whole prompt. */
const leastShare = 0.5;

/** Questions that share words with the prompt, best first; rare words have more weight. */
function matching(
  list: readonly BankQuestion[],
  request: QuestionRequest,
): readonly BankQuestion[] {
  if (request.prompt === null) return list;
  const wanted = normalizeText(request.prompt)
    .split(" ")
    .filter((word) => word.length >= shortestWord && !fillWords.has(word))
    .slice(0, mostWords)
    .map((word) => ` ${word.replace(ending, "")}`);
  if (wanted.length === 0) return list;
  const subject = normalizeText(request.category);
  // Wrong choices do not describe the subject of a question.
  const texts = list.map(
    ({ key, choices, correctIndex }) =>
      ` ${key} ${normalizeText(choices[correctIndex])} ${subject}`,
  );
  const weighed = wanted.map((word) => {
    const hits = texts.map((text) => text.includes(word));
    const found = hits.filter(Boolean).length;
    return { hits, weight: found === 0 ? 0 : Math.log(1 + list.length / found) };
  });
  const scored = list.map((entry, at) => ({
    entry,
    score: weighed.reduce((sum, { hits, weight }) => sum + (hits[at] ? weight : 0), 0),
  }));
  const best = scored.reduce((most, { score }) => Math.max(most, score), 0);
  return scored
    .filter(({ score }) => score > 0 && score >= best * leastShare)
    .sort((a, b) => b.score - a.score)
    .map(({ entry }) => entry);
}
