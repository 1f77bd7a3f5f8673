import { drawWrong } from "../../../db/queries/questions/question-draws.ts";
import { readCategoryXp } from "../../../db/queries/questions/question-answers.ts";
import { AppError } from "../../platform/errors.ts";
import type { QuestionDeps } from "./deps.ts";
import { levelOf } from "../progress/domain/levels.ts";
import { hashPrompt } from "./providers/question-model.ts";
import { difficultyOf, isCategory, shuffledCategories, slugOf } from "./categories.ts";
import { categorize } from "./categorize.ts";
import { mayMake } from "./making.ts";
import { drawOrGenerate, drawStored, waitUntil, type Stocked, type DrawCriteria } from "./stock.ts";

/** Maximum categories that one draw generates questions for. */
const mostCategories = 5;

export interface DrawInput {
  /** Comma-separated names. */
  categories: string | null;
  category: string | null;
  difficulty: string;
  prompt: string | null;
  retry: boolean;
  blend: boolean;
}

export interface Drawn extends Stocked {
  isRetry: boolean;
}

/**
 * One question of the public pool that the player has not answered, generated on a miss; with `retry` one answered
 * wrong last time. Null when there is none (TRV-03, TRV-09). Throws `request:invalid_query` for an unknown category.
 */
export async function drawForPlayer(
  deps: QuestionDeps,
  playerId: number,
  input: DrawInput,
): Promise<Drawn | null> {
  const named = namesOf(input);
  const prompt = input.prompt?.trim() ? input.prompt : null;
  if (input.retry) return drawAgain(deps, playerId, { named, prompt, input });
  const order = orderOf(named, input.blend);
  const xp = input.difficulty === "auto" ? await readCategoryXp(deps.em, playerId) : null;
  const candidates = order.map((category): DrawCriteria => {
    const level = xp === null ? null : levelOf(xp.get(category) ?? 0);
    return {
      pool: "public",
      category,
      difficulty: difficultyOf(input.difficulty, level),
      prompt,
      model: null,
      count: 1,
      excludeIds: [],
      preferUnseenBy: [playerId],
      maker: playerId,
      freshOnly: true,
    };
  });
  const found =
    (await firstStored(deps, candidates)) ?? (await firstGenerated(deps, playerId, candidates));
  return found === null ? null : { ...found, isRetry: false };
}

/** The named categories in the given order, each once; null for all categories. */
function namesOf({ categories, category }: DrawInput): string[] | null {
  const given = [
    ["categories", categories?.split(",")],
    ["category", category === null ? [] : [category]],
  ] as const;
  const slugs = given.flatMap(([parameter, names = []]) =>
    names.flatMap((name) => {
      const slug = slugOf(name);
      if (slug === "") return [];
      if (slug === "random" || isCategory(slug)) return [slug];
      throw new AppError("request:invalid_query", { params: { parameter } });
    }),
  );
  return slugs.length === 0 || slugs.includes("random") ? null : [...new Set(slugs)];
}

/** Blended: a random order per draw. Otherwise the first category is used until it is exhausted. */
function orderOf(named: string[] | null, isBlended: boolean): string[] {
  if (named === null) return shuffledCategories();
  return isBlended ? shuffledCategories().filter((name) => named.includes(name)) : named;
}

async function drawAgain(
  deps: QuestionDeps,
  playerId: number,
  criteria: { named: string[] | null; prompt: string | null; input: DrawInput },
): Promise<Drawn | null> {
  const row = await drawWrong(deps.em, {
    playerId,
    categories: criteria.named,
    difficulty: criteria.input.difficulty === "auto" ? null : criteria.input.difficulty,
    promptHash: criteria.prompt === null ? null : hashPrompt(criteria.prompt),
  });
  return row === null ? null : { ...row, isCached: true, isRetry: true };
}

async function firstStored(
  deps: QuestionDeps,
  candidates: readonly DrawCriteria[],
): Promise<Stocked | null> {
  for (const criteria of candidates) {
    const [row] = await drawStored(deps, criteria);
    if (row !== undefined) return row;
  }
  return null;
}

/** Generates questions category by category, within the timeout of the request. */
async function firstGenerated(
  deps: QuestionDeps,
  playerId: number,
  candidates: readonly DrawCriteria[],
): Promise<Stocked | null> {
  if (!(await mayMake(deps, "draws", playerId))) return null;
  const deadline = waitUntil(deps);
  for (const criteria of (await bestFirst(deps, candidates)).slice(0, mostCategories)) {
    if (deps.clock.now() >= deadline) return null;
    const [row] = await drawOrGenerate(deps, criteria, deadline);
    if (row !== undefined) return row;
  }
  return null;
}

/** With a prompt, its categories are tried first. */
async function bestFirst(
  deps: QuestionDeps,
  candidates: readonly DrawCriteria[],
): Promise<DrawCriteria[]> {
  const prompt = candidates[0]?.prompt ?? null;
  if (prompt === null) return [...candidates];
  const fitting: readonly string[] = await categorize(deps, prompt);
  const placeOf = ({ category }: DrawCriteria) => {
    const at = fitting.indexOf(category);
    return at < 0 ? fitting.length : at;
  };
  return candidates.toSorted((a, b) => placeOf(a) - placeOf(b));
}
