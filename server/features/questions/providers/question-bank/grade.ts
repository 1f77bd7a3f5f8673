import { normalizeText, type Difficulty, type GeneratedQuestion } from "../question-model.ts";
import { checkQuestion } from "./check.ts";
import type { Draft } from "./draft.ts";
import { createRandom, shuffle } from "./random.ts";

/** From the easiest to the hardest, with the expected percentage of right answers (TRV-06). */
export const ladder: readonly [Difficulty, rate: number][] = [
  ["elementary", 85],
  ["easy", 75],
  ["middle_school", 70],
  ["high_school", 62],
  ["medium", 55],
  ["undergrad", 45],
  ["hard", 35],
  ["masters", 32],
  ["phd", 28],
  ["postdoc", 25],
];

/** A finished question with its normal form. */
export interface BankQuestion extends GeneratedQuestion {
  key: string;
}

export type QuestionsByDifficulty = ReadonlyMap<Difficulty, readonly BankQuestion[]>;

/**
 * Turns the drafts of one category into questions, a tenth for each difficulty: the hardness of
 * drafts only orders them, so no difficulty of any category is ever empty.
 */
export function gradeDrafts(drafts: readonly Draft[], seed: string): QuestionsByDifficulty {
  const sorted = usable(drafts, seed).sort(
    (a, b) => a.hardness - b.hardness || (a.key < b.key ? -1 : 1),
  );
  const byDifficulty = new Map<Difficulty, BankQuestion[]>();
  ladder.forEach(([difficulty, rate], step) => {
    const from = Math.floor((sorted.length * step) / ladder.length);
    const to = Math.floor((sorted.length * (step + 1)) / ladder.length);
    const tenth = sorted.slice(from, to).map((entry) => finish(entry, rate));
    byDifficulty.set(difficulty, shuffle(createRandom(`${seed}:${difficulty}`), tenth));
  });
  return byDifficulty;
}

type Finished = BankQuestion & { hardness: number };

/** Drops what the checker refuses and texts that came before. */
function usable(drafts: readonly Draft[], seed: string): Finished[] {
  const byKey = new Map<string, Finished>();
  for (const draft of drafts) {
    const key = normalizeText(draft.question);
    if (byKey.has(key)) continue;
    const question = withChoices(draft, key, seed);
    if (question !== null && checkQuestion(question) === null) byKey.set(key, question);
  }
  return [...byKey.values()];
}

function withChoices(draft: Draft, key: string, seed: string): Finished | null {
  const random = createRandom(`${seed}:${key}`);
  const [a, b, c] = shuffle(
    random,
    draft.wrong.filter((choice) => choice !== draft.answer),
  );
  if (a === undefined || b === undefined || c === undefined) return null;
  const position = Math.floor(random() * 4) as 0 | 1 | 2 | 3;
  const choices: [string, string, string, string] = [draft.answer, a, b, c];
  choices[0] = choices[position];
  choices[position] = draft.answer;
  const { question, explanation, hardness } = draft;
  return {
    key,
    question,
    choices,
    correctIndex: position,
    explanation,
    estimatedRate: 50,
    hardness,
  };
}

function finish({ hardness: _, ...question }: Finished, rate: number): BankQuestion {
  return { ...question, estimatedRate: rate };
}

const rates = new Map(ladder);

/** Default expected percentage of right answers (TRV-06). */
export function expectedRate(difficulty: Difficulty): number {
  return rates.get(difficulty) ?? 50;
}
