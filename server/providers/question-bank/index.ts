import {
  categories,
  normalizeText,
  type Category,
  type GeneratedQuestion,
  type QuestionModel,
  type QuestionRequest,
} from "../question-model.ts";
import type { BankQuestion, Shelf } from "./grade.ts";
import { loadShelf } from "./shelves.ts";
import { subjectsOf } from "./subjects.ts";

export { checkQuestions, type Problem } from "./check.ts";

export const bankSeed = "emberline";

/**
 * The default generator: works without a network (TRV-03). Each category is built when first asked
 * for and kept. With a prompt only questions that share a word with it come, best match first;
 * none sharing a word means an empty answer, and the caller decides what to do then.
 */
export function createQuestionBank({ seed = bankSeed }: { seed?: string } = {}): QuestionModel {
  const shelves = new Map<Category, Promise<Shelf>>();
  const shelfOf = (category: Category) => {
    const known = shelves.get(category) ?? loadShelf(category, seed);
    shelves.set(category, known);
    return known;
  };
  return {
    name: "bank",
    async generate(request) {
      const shelf = await shelfOf(request.category);
      const all = shelf.get(request.difficulty) ?? [];
      const unseen = all.filter((entry) => !request.exclude.has(entry.key));
      return matching(unseen, request).slice(0, request.count).map(withoutKey);
    },
    categorize: async (prompt) => subjectsOf(prompt),
  };
}

/** Everything the bank can make, for checks and seeds. */
export async function listBank(seed = bankSeed) {
  const shelves = await Promise.all(
    categories.map(async (category) => ({ category, shelf: await loadShelf(category, seed) })),
  );
  return shelves.flatMap(({ category, shelf }) =>
    [...shelf].flatMap(([difficulty, list]) =>
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
const fillWords = new Set(
  (
    "about all and any are ask but can easy for from fun game give hard have make more not only please question " +
    "questions quiz some that the them theme things this trivia want with you"
  ).split(" "),
);

function matching(
  list: readonly BankQuestion[],
  request: QuestionRequest,
): readonly BankQuestion[] {
  if (request.prompt === null) return list;
  const wanted = normalizeText(request.prompt)
    .split(" ")
    .filter((word) => word.length >= shortestWord && !fillWords.has(word))
    .slice(0, mostWords)
    .map((word) => ` ${word.replace(/(?:es|s)$/, "")}`);
  if (wanted.length === 0) return list;
  const subject = normalizeText(request.category);
  const scored = list.map((entry) => {
    const text = ` ${entry.key} ${normalizeText(entry.choices.join(" "))} ${subject}`;
    return { entry, score: wanted.filter((word) => text.includes(word)).length };
  });
  const fitting = scored.filter(({ score }) => score > 0);
  return fitting.sort((a, b) => b.score - a.score).map(({ entry }) => entry);
}
