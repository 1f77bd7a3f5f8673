import { createHash } from "node:crypto";
import type { Origin } from "../../../platform/origin.ts";

/**
 * The outside service that writes questions (decisions TRV-03, TRV-13).
 * `bank` works without a network; `http` speaks the chat-completions protocol.
 */
export interface QuestionRequest {
  /** A category slug, never `random`. */
  category: Category;
  /** A difficulty, never `auto`. */
  difficulty: Difficulty;
  /** Quoted data, never instructions (TRV-05). */
  prompt: string | null;
  model: string | null;
  /** How many are wanted, 1-20. Fewer may come. */
  count: number;
  /** What the call goes back to, for its failures. */
  origin: Origin;
  /** Normalized texts (see `normalizeText`) that must not come again. */
  exclude: ReadonlySet<string>;
}

export interface GeneratedQuestion {
  question: string;
  /** Four distinct strings, the right one at `correctIndex`, shuffled by a stored seed. */
  choices: [string, string, string, string];
  correctIndex: 0 | 1 | 2 | 3;
  explanation: string;
  /** Expected percentage of right answers (TRV-06). */
  estimatedRate: number;
  /** Author of the question, if not the called model. */
  source?: string;
}

export interface QuestionModel {
  readonly name: string;
  /** May return nothing; throws when the call fails. */
  generate(request: QuestionRequest): Promise<GeneratedQuestion[]>;
  /** Categories of a prompt, best first, up to five; none when unknown (TRV-08). */
  categorize?(prompt: string, origin: Origin): Promise<Category[]>;
}

/** The fixed start list of TRV-01. */
export const categories = [
  "general_knowledge",
  "science",
  "nature",
  "mathematics",
  "technology",
  "history",
  "geography",
  "politics",
  "art",
  "literature",
  "mythology",
  "religion",
  "philosophy",
  "music",
  "film",
  "television",
  "video_games",
  "sports",
  "food_and_drink",
  "pop_culture",
] as const;
export type Category = (typeof categories)[number];

/** Difficulty values of document 2 without `auto`. */
export const difficulties = [
  "easy",
  "medium",
  "hard",
  "elementary",
  "middle_school",
  "high_school",
  "undergrad",
  "masters",
  "phd",
  "postdoc",
] as const;
export type Difficulty = (typeof difficulties)[number];

/** Two questions with the same normal form are the same question (TRV-03). */
export function normalizeText(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, " ")
    .trim();
}

/** Name of a prompt in the store: case, punctuation and spacing make no difference (TRV-03). */
export function hashPrompt(prompt: string): string {
  return createHash("sha256").update(normalizeText(prompt)).digest("hex");
}
