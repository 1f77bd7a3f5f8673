import type { DrawnQuestion, DrawPlan } from "../../../actors/index.ts";
import { AppError } from "../../platform/errors.ts";
import type { QuestionDeps } from "./deps.ts";
import { listInChallenges, listLiveInLobbies, markLive } from "../runs/domain/live.ts";
import { isExhausted } from "./domain/negative-cache.ts";
import type { Category } from "./providers/question-model.ts";
import { difficultyOf, neighboursOf, randomCategory } from "./categories.ts";
import { openCategories } from "./categorize.ts";
import { xpOfKnown, type XpOfKnown } from "./known.ts";
import { sealAnswer } from "./seal.ts";
import {
  drawFromBank,
  drawOrGenerateIfThere,
  drawStored,
  stockedDifficulties,
  waitUntil,
  type Stocked,
  type DrawCriteria,
} from "./stock.ts";

/** Maximum redraws of questions that another lobby drew concurrently. */
const redraws = 3;
/** Part of the wait for new questions that is left to the bank, which makes the rest. */
const bankMs = 2_000;

/** Categorizer of prompts. */
type Subjects = Pick<QuestionDeps, "questionModel">;

/** Sources of the questions of one category. */
type Source = (deps: QuestionDeps, criteria: DrawCriteria) => Promise<Stocked[]>;

/**
 * Draws a lobby's questions from the competition pool in the order they will be played, as many as asked while there
 * are any (LOB-20, LOB-23, LOB-24, LOB-29). A prompt is a preference: missing questions are replaced by others of the same
 * category and difficulty. The bank adds what the generator does not make in time. Throws `generator:unavailable` when
 * there are none at all.
 */
export function drawForLobby(deps: QuestionDeps, plan: DrawPlan): Promise<DrawnQuestion[]> {
  return drawFrom([drawUnshared], deps, plan);
}

/**
 * Questions for a running game that has none left: stored ones, else those of the bank, so that the game does not wait
 * for the generator. Empty when there are none.
 */
export async function drawAtOnce(deps: QuestionDeps, plan: DrawPlan): Promise<DrawnQuestion[]> {
  // Categorizing a prompt by a language model may take seconds.
  const bank = { questionModel: deps.questionBank };
  try {
    return await drawFrom([drawWithoutWait, drawUnshared], deps, plan, bank);
  } catch (error) {
    if (error instanceof AppError && error.code === "generator:unavailable") return [];
    throw error;
  }
}

/** Result of the first source that is not empty. */
async function drawFrom(
  sources: readonly Source[],
  deps: QuestionDeps,
  plan: DrawPlan,
  subjects: Subjects = deps,
): Promise<DrawnQuestion[]> {
  for (const source of sources) {
    const drawn = await drawGame(source, deps, plan, subjects);
    if (drawn.length > 0) return drawn;
  }
  throw new AppError("generator:unavailable");
}

async function drawGame(
  source: Source,
  deps: QuestionDeps,
  plan: DrawPlan,
  { questionModel }: Subjects,
): Promise<DrawnQuestion[]> {
  const named = namesOf(plan);
  const { log, faults, origin } = deps;
  const open = named.includes("random")
    ? await openCategories({ questionModel, log, faults, origin }, plan.prompt)
    : [];
  const order = playOrder(plan, named, open);
  const difficulty = difficultyOf(plan.difficulty, null);
  const needed = new Map<string, number>();
  for (const category of order) needed.set(category, (needed.get(category) ?? 0) + 1);
  const drawn = new Map<string, Stocked[]>();
  await Promise.all(
    [...needed].map(async ([category, count]) => {
      const criteria = criteriaOf(plan, category, difficulty, count);
      drawn.set(category, await drawCategory(deps, source, criteria, plan.count));
    }),
  );
  const rows = order.flatMap((category) => drawn.get(category)?.shift() ?? []);
  if (rows.length === 0) return [];
  const known = await xpOfKnown(deps, plan.player_ids, rows);
  return rows.map((row) => toDrawn(row, known.get(row.id)));
}

/** Categories of the lobby, at least one; `random` means any. */
function namesOf({ selected_categories: chosen, category }: DrawPlan): string[] {
  return chosen.length > 0 ? chosen : [category ?? "random"];
}

/** The category of each position: round-robin when blended, else in blocks of about equal length (LOB-23). */
function playOrder(plan: DrawPlan, named: string[], open: readonly Category[]): string[] {
  const blocks = Math.min(named.length, plan.count);
  return Array.from({ length: plan.count }, (_, place) => {
    const at = plan.blend
      ? (plan.first_index + place) % named.length
      : Math.floor((place * blocks) / plan.count);
    const name = named[at] ?? "random";
    return name === "random" ? randomCategory(open) : name;
  });
}

function criteriaOf(
  plan: DrawPlan,
  category: string,
  difficulty: string,
  count: number,
): DrawCriteria {
  return {
    pool: "competition",
    category,
    difficulty,
    prompt: plan.prompt?.trim() ? plan.prompt : null,
    model: null,
    count,
    excludeIds: plan.exclude_ids,
    preferUnseenBy: plan.player_ids,
    // The host has the first seat and requested the questions.
    maker: plan.player_ids[0] ?? null,
  };
}

async function drawCategory(
  deps: QuestionDeps,
  source: Source,
  criteria: DrawCriteria,
  gameSize: number,
): Promise<Stocked[]> {
  let all = await source(deps, criteria);
  let marked = all;
  for (let attempt = 0; marked.length > 0; attempt++) {
    const shared = await markAll(deps, marked, gameSize);
    if (shared.size === 0 || attempt >= redraws) break;
    // Another lobby drew them first.
    marked = await drawInstead(deps, criteria, all, shared.size);
    const others = [...marked];
    all = all.map((row) => (shared.has(row.id) ? (others.shift() ?? row) : row));
  }
  return all;
}

/** Ids that are already live elsewhere. */
async function markAll(
  deps: QuestionDeps,
  rows: readonly Stocked[],
  gameSize: number,
): Promise<Set<number>> {
  const shared = new Set<number>();
  for (const each of new Set(rows.map((row) => row.difficulty))) {
    const same = rows.filter((row) => row.difficulty === each);
    const ids = same.map(({ id }) => id);
    const category = same[0]?.category ?? "";
    for (const id of await markLive(deps, category, each, ids, gameSize)) shared.add(id);
  }
  return shared;
}

/** Other questions that are not live, stored or of the bank: no second wait for the generator. */
async function drawInstead(
  deps: QuestionDeps,
  criteria: DrawCriteria,
  drawn: readonly Stocked[],
  count: number,
): Promise<Stocked[]> {
  const without = [...drawn.map(({ id }) => id), ...(await listAvoided(deps, criteria))];
  let found: Stocked[] = [];
  for (const prompt of new Set([criteria.prompt, null])) {
    const next = lacking({ ...criteria, count, prompt }, found, without);
    found = [...found, ...(await drawStored(deps, next))];
  }
  return fillUp(deps, { ...criteria, count, prompt: null }, found, { without, isFromBank: true });
}

/**
 * Live questions are used only when nothing else is left, new ones included (LOB-24): first those of other lobbies,
 * then those of challenges (TRV-12). Other difficulties follow when neither the store nor the bank has more of the
 * asked one. A recently exhausted generator is called again only when all of these together are too few.
 */
async function drawUnshared(
  deps: QuestionDeps,
  criteria: DrawCriteria,
  { mayWait = true }: { mayWait?: boolean } = {},
): Promise<Stocked[]> {
  const inChallenges = await listInChallenges(deps);
  const live = await listLiveInLobbies(deps, criteria.category, criteria.difficulty);
  const deadline = waitUntil(deps) - bankMs;
  let all: Stocked[] = [];
  const resting: (string | null)[] = [];
  for (const prompt of new Set([criteria.prompt, null])) {
    if (all.length >= criteria.count) return all;
    const next = lacking({ ...criteria, prompt }, all, [...live, ...inChallenges]);
    const isResting = mayWait && (await isExhausted(deps, next));
    if (isResting) resting.push(prompt);
    const isMade = mayWait && !isResting;
    const drawn = isMade ? drawOrGenerateIfThere(deps, next, deadline) : drawStored(deps, next);
    all = [...all, ...(await drawn)];
  }
  const any = { ...criteria, prompt: null };
  if (all.length < criteria.count) {
    const without = await listAvoided(deps, criteria);
    all = await fillUp(deps, any, all, { without, isFromBank: true });
  }
  for (const without of [inChallenges, []])
    all = await fillUp(deps, any, all, { without, isFromBank: false });
  for (const prompt of resting) {
    if (all.length >= criteria.count) return all;
    const next = lacking({ ...criteria, prompt }, all, []);
    all = [...all, ...(await drawOrGenerateIfThere(deps, next, deadline))];
  }
  return all;
}

const drawWithoutWait: Source = (deps, criteria) =>
  drawUnshared(deps, criteria, { mayWait: false });

/** Live questions of the category in lobbies of any difficulty, and in challenges. */
async function listAvoided(
  deps: QuestionDeps,
  { category, difficulty }: DrawCriteria,
): Promise<number[]> {
  const lists = difficultiesFrom(difficulty).map((each) => listLiveInLobbies(deps, category, each));
  return (await Promise.all([...lists, listInChallenges(deps)])).flat();
}

interface Filling {
  /** Questions to leave out. */
  without: readonly number[];
  /** The bank makes what is not stored. */
  isFromBank: boolean;
}

/**
 * Adds other questions to `found`, up to the count. A long game continues with the nearest difficulties instead of
 * ending early.
 */
async function fillUp(
  deps: QuestionDeps,
  criteria: DrawCriteria,
  found: Stocked[],
  { without, isFromBank }: Filling,
): Promise<Stocked[]> {
  if (found.length >= criteria.count) return found;
  const order = difficultiesFrom(criteria.difficulty);
  const stocked = await stockedDifficulties(deps, lacking(criteria, found, without), order);
  let all = found;
  for (const difficulty of isFromBank ? order : stocked) {
    if (all.length >= criteria.count) break;
    const next = () => lacking({ ...criteria, difficulty }, all, without);
    if (stocked.includes(difficulty)) all = [...all, ...(await drawStored(deps, next()))];
    if (isFromBank) all = [...all, ...(await drawFromBank(deps, next()))];
  }
  return all;
}

const difficultiesFrom = (difficulty: string) => [difficulty, ...neighboursOf(difficulty)];

/** The remainder of `criteria` after these, excluding `without`. */
function lacking(
  criteria: DrawCriteria,
  found: readonly Stocked[],
  without: readonly number[],
): DrawCriteria {
  const excludeIds = [...criteria.excludeIds, ...without, ...found.map((row) => row.id)];
  return { ...criteria, count: criteria.count - found.length, excludeIds };
}

function toDrawn(row: Stocked, known: XpOfKnown | undefined): DrawnQuestion {
  const { id, category, difficulty, choices, correctIndex, explanation } = row;
  const { estimatedRate, isCached, numServed, numCorrect } = row;
  return {
    id,
    category,
    difficulty,
    text: row.question,
    choices,
    correctIndex,
    explanation,
    estimatedRate,
    isCached,
    numServed,
    numCorrect,
    ...sealAnswer({ id, correctIndex, choices }),
    ...(known === undefined ? {} : { xpOfKnown: known }),
  };
}
