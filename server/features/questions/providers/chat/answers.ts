import Type from "typebox";
import { Compile } from "typebox/compile";
import { checkQuestion } from "../question-bank/check.ts";
import { createRandom, shuffle } from "../question-bank/random.ts";
import {
  categories,
  normalizeText,
  type Category,
  type Difficulty,
  type GeneratedQuestion,
} from "../question-model.ts";
import { expectedRate } from "../question-bank/grade.ts";
import { MalformedAnswer } from "./client.ts";

/** Maximum questions read from one response; no more were requested. */
const mostRead = 20;
/**
 * Shuffle seed: with the text it determines the order of choices, so that a question always looks the same (TRV-03).
 */
const layoutSeed = "emberline";

const isBatch = Compile(Type.Object({ questions: Type.Array(Type.Unknown()) }));
const isWritten = Compile(
  Type.Object({
    question: Type.String(),
    choices: Type.Tuple([Type.String(), Type.String(), Type.String(), Type.String()]),
    correct_index: Type.Integer({ minimum: 0, maximum: 3 }),
    explanation: Type.String(),
    estimated_rate: Type.Optional(Type.Unknown()),
  }),
);
const isModelChoices = Compile(
  Type.Object({
    answers: Type.Array(Type.Object({ number: Type.Integer(), index: Type.Integer() })),
  }),
);
const isKeys = Compile(Type.Object({ categories: Type.Array(Type.Unknown()) }));

export interface Read {
  questions: GeneratedQuestion[];
  /** Dropped questions by reason. */
  dropped: { malformed: number; unsound: number; duplicate: number };
}

/**
 * The usable questions of a response: well-formed, valid (TRV-03, TRV-13), distinct and not known. Throws
 * `MalformedAnswer` when none is well-formed.
 */
export function readQuestions(
  value: unknown,
  difficulty: Difficulty,
  known: ReadonlySet<string>,
): Read {
  if (!isBatch.Check(value)) throw new MalformedAnswer("the answer has no list of questions");
  const list = value.questions.slice(0, mostRead);
  const written = list.filter((one) => isWritten.Check(one));
  if (list.length > 0 && written.length === 0)
    throw new MalformedAnswer("no question has the right form");
  const all = written.map((one) => layOut(one, difficulty));
  const sound = all.filter((question) => checkQuestion(question) === null);
  const seen = new Set(known);
  const questions = sound.filter(({ question }) => {
    const key = normalizeText(question);
    if (key === "" || seen.has(key)) return false;
    seen.add(key);
    return true;
  });
  const dropped = {
    malformed: list.length - written.length,
    unsound: all.length - sound.length,
    duplicate: sound.length - questions.length,
  };
  return { questions, dropped };
}

interface Written {
  question: string;
  choices: [string, string, string, string];
  correct_index: number;
  explanation: string;
  estimated_rate?: unknown;
}

/** Shuffles the choices, since models tend to put the right one first. */
function layOut(written: Written, difficulty: Difficulty): GeneratedQuestion {
  const question = written.question.trim();
  const order = shuffle(createRandom(`${layoutSeed}:${normalizeText(question)}`), [0, 1, 2, 3]);
  const at = (place: number) => written.choices[order[place] ?? 0]?.trim() ?? "";
  const rate = written.estimated_rate;
  const isRate = typeof rate === "number" && Number.isInteger(rate) && rate >= 1 && rate <= 99;
  return {
    question,
    choices: [at(0), at(1), at(2), at(3)],
    correctIndex: order.indexOf(written.correct_index) as GeneratedQuestion["correctIndex"],
    explanation: written.explanation.trim(),
    estimatedRate: isRate ? rate : expectedRate(difficulty),
    source: "http",
  };
}

/** The model's choice, by number of the question. */
export function readModelChoices(value: unknown): Map<number, number> {
  if (!isModelChoices.Check(value)) throw new MalformedAnswer("the answer has no list of answers");
  return new Map(value.answers.map(({ number, index }) => [number, index]));
}

const mostKeys = 5;

/** Known categories only, each once. */
export function readKeys(value: unknown): Category[] {
  if (!isKeys.Check(value)) throw new MalformedAnswer("the answer has no list of categories");
  const named = new Set(value.categories);
  const ranked = categories.filter((category) => named.has(category));
  const places = [...named];
  return ranked.sort((a, b) => places.indexOf(a) - places.indexOf(b)).slice(0, mostKeys);
}
