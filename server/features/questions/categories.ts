import { randomInt } from "node:crypto";
import { AppError } from "../../platform/errors.ts";
import {
  categories,
  difficulties,
  type Category,
  type Difficulty,
} from "./providers/question-model.ts";

const known = new Set<string>(categories);

/** Case, spaces and hyphens make no difference (TRV-01). */
export function slugOf(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, "_");
}

export function isCategory(slug: string): slug is Category {
  return known.has(slug);
}

export function isDifficulty(name: string): name is Difficulty {
  return (difficulties as readonly string[]).includes(name);
}

/**
 * The slug of a category named in a body, `random` included; null stays null.
 * Throws `validation:failed` naming `field` for any other (TRV-01).
 */
export function categoryOf(name: string | null, field: string): string | null {
  if (name === null) return null;
  const slug = slugOf(name);
  if (slug === "random" || isCategory(slug)) return slug;
  throw new AppError("validation:failed", {
    violations: [{ propertyPath: field, title: "is not a known category" }],
  });
}

/** Uniformly random per question (TRV-01). */
export function randomCategory(among: readonly Category[]): Category {
  return among[randomInt(among.length)] ?? categories[0];
}

/** All categories in random order. */
export function shuffledCategories(): Category[] {
  return categories
    .map((name) => ({ name, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ name }) => name);
}

const levels: readonly [from: number, difficulty: Difficulty][] = [
  [15, "masters"],
  [10, "undergrad"],
  [6, "hard"],
  [3, "medium"],
  [1, "easy"],
];

/** Difficulty of `auto` for this level in the category; medium without a level (TRV-02). */
export function difficultyOf(name: string | null, level: number | null): Difficulty {
  const named = difficulties.find((difficulty) => difficulty === name);
  if (named !== undefined) return named;
  return (level === null ? undefined : levels.find(([from]) => level >= from)?.[1]) ?? "medium";
}

/** Difficulties from the youngest learner to the expert. */
const ladder: readonly Difficulty[] = [
  "elementary",
  "easy",
  "middle_school",
  "medium",
  "high_school",
  "hard",
  "undergrad",
  "masters",
  "phd",
  "postdoc",
];

/** The other difficulties, nearest first. */
export function neighboursOf(difficulty: string): Difficulty[] {
  const at = ladder.findIndex((name) => name === difficulty);
  const distance = (name: Difficulty) => Math.abs(ladder.indexOf(name) - at);
  return ladder.filter((name) => name !== difficulty).sort((a, b) => distance(a) - distance(b));
}
