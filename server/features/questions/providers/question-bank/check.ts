import { normalizeText, type GeneratedQuestion } from "../question-model.ts";

/** A defect of one question, or of the whole list (`question` is then empty). */
export interface Problem {
  question: string;
  problem: string;
}

export const maxQuestionLength = 500;
export const maxChoiceLength = 200;
export const maxExplanationLength = 1_000;

/** Words too general to give an answer away. */
const plainWords = new Set(
  (
    "about after also another before began being between called century city country could during each every first " +
    "from game games great have into kind known less made many more most much name named number only other over " +
    "part people piece played same show shows some than that their them then there these thing this time used " +
    "uses using what when where which while whose with without word work world would year years your"
  ).split(" "),
);

const words = (text: string) => normalizeText(text).split(" ");
const specificWords = (text: string) =>
  words(text).filter((word) => word.length >= 5 && !plainWords.has(word));

/** True for choices that differ only in case, articles, punctuation, plural or number form. */
function choiceKey(text: string): string {
  const value = Number(text.replace(/[\s,]/g, ""));
  if (text.trim() !== "" && Number.isFinite(value)) return `#${value}`;
  // Formulas differ in symbols that the normal form drops.
  const signs = /[\p{L}]{2}/u.test(text) ? "" : text.replace(/[\p{L}\p{N}\s]/gu, "");
  return (
    normalizeText(text)
      .replace(/^(the|a|an) /, "")
      .replace(/s$/, "") + signs
  );
}

type Rule = (q: GeneratedQuestion) => string | null;

const rules: readonly Rule[] = [
  (q) => (q.choices.length === 4 ? null : "has not four choices"),
  (q) =>
    Number.isInteger(q.correctIndex) && q.correctIndex >= 0 && q.correctIndex < q.choices.length
      ? null
      : "points at no choice",
  (q) =>
    new Set(q.choices.map(choiceKey)).size === q.choices.length
      ? null
      : "has choices that mean the same",
  (q) =>
    q.question.trim() === "" || q.choices.some((c) => c.trim() === "") ? "has an empty text" : null,
  (q) => (q.explanation.trim().length < 10 ? "has no explanation" : null),
  (q) =>
    q.question.length > maxQuestionLength ||
    q.explanation.length > maxExplanationLength ||
    q.choices.some((choice) => choice.length > maxChoiceLength)
      ? "is too long"
      : null,
  (q) =>
    Number.isInteger(q.estimatedRate) && q.estimatedRate >= 0 && q.estimatedRate <= 100
      ? null
      : "has a rate that is no percentage",
  (q) => firstMatch(unplain, texts(q)),
  answerInQuestion,
];

const unplain: readonly [RegExp, string][] = [
  [/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u, "has control characters"],
  [/<\/?[a-z!][^>]*>|&(?:[a-z]+|#\d+);|\]\(|```/i, "has markup"],
  [/\b(?:https?:|ftp:|javascript:|data:|mailto:|www\.)/i, "has a link"],
  [/\{\w*\}|\$\{|\bundefined\b|\bNaN\b/, "has an unfilled template"],
];

function texts(q: GeneratedQuestion): string[] {
  return [q.question, ...q.choices, q.explanation];
}

function firstMatch(patterns: readonly [RegExp, string][], list: readonly string[]): string | null {
  for (const [pattern, problem] of patterns)
    if (list.some((text) => pattern.test(text))) return problem;
  return null;
}

/** True when the question contains the answer, or a specific word of it that no wrong choice shares. */
function answerInQuestion(q: GeneratedQuestion): string | null {
  const answer = q.choices[q.correctIndex];
  if (answer === undefined) return null;
  const wrong = q.choices.filter((_, index) => index !== q.correctIndex);
  const asked = ` ${normalizeText(q.question)} `;
  const isSaid = (choice: string) => asked.includes(` ${normalizeText(choice)} `);
  const isSpecific = /\p{L}{2}|\d{3}/u.test(answer);
  if (isSpecific && isSaid(answer) && !wrong.every(isSaid))
    return "says the answer in the question";
  const said = new Set(specificWords(q.question));
  const tells = (choice: string) => specificWords(choice).some((word) => said.has(word));
  if (tells(answer) && !wrong.some(tells)) return "gives the answer away by a word";
  return null;
}

/** The defect of a question, or null (TRV-03, TRV-13). */
export function checkQuestion(q: GeneratedQuestion): string | null {
  for (const rule of rules) {
    const problem = rule(q);
    if (problem !== null) return problem;
  }
  return null;
}

/** Chi-square of 0.1 % at 3 degrees of freedom: a fair shuffle passes 999 times of 1000. */
const chiSquareLimit = 16.27;
const smallestSample = 40;

function skewOf(list: readonly GeneratedQuestion[]): string | null {
  if (list.length < smallestSample) return null;
  const counts = [0, 0, 0, 0];
  for (const q of list) counts[q.correctIndex] = (counts[q.correctIndex] ?? 0) + 1;
  const expected = list.length / 4;
  const chiSquare = counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
  return chiSquare > chiSquareLimit ? `right answers stand unevenly: ${counts.join(", ")}` : null;
}

/** Every defect of a list: of each question, duplicates, and skewed answer positions. */
export function checkQuestions(list: readonly GeneratedQuestion[]): Problem[] {
  const problems: Problem[] = [];
  const seen = new Set<string>();
  for (const q of list) {
    const problem = checkQuestion(q);
    if (problem !== null) problems.push({ question: q.question, problem });
    const key = normalizeText(q.question);
    if (seen.has(key)) problems.push({ question: q.question, problem: "is asked twice" });
    seen.add(key);
  }
  const skew = skewOf(list);
  if (skew !== null) problems.push({ question: "", problem: skew });
  return problems;
}
