import { randomInt } from "node:crypto";
import type { EntityManager } from "@mikro-orm/postgresql";
import { weightOf } from "../../../../actors/lobby/scoring.ts";
import type { ChallengeKind } from "../../../../db/entities/challenge.ts";
import {
  insertChallenge,
  listChallengeQuestions,
  listChallenges,
  lockChallenges,
  type ChallengeRow,
} from "../../../../db/queries/runs/challenges.ts";
import { drawQuestions } from "../../../../db/queries/questions/question-draws.ts";
import type { QuestionRow } from "../../../../db/queries/questions/questions.ts";
import { datesBetween, earliestDate, latestDate } from "../../../platform/time/days.ts";
import type { WithEm, WithLog, WithOrigin } from "../../../platform/capabilities.ts";
import {
  categories,
  type Difficulty,
  type QuestionModel,
} from "../../questions/providers/question-model.ts";
import { makeQuestions } from "../../questions/domain/make-questions.ts";

const repeated = (difficulty: Difficulty, count: number) =>
  Array.from({ length: count }, () => difficulty);

/** Difficulty of each position (RUN-06): mixed, or rising. */
const plans: Readonly<Record<ChallengeKind, readonly Difficulty[]>> = {
  daily_shuffle: [...repeated("easy", 3), ...repeated("medium", 4), ...repeated("hard", 3)],
  gauntlet: [
    ...repeated("easy", 3),
    ...repeated("medium", 4),
    ...repeated("hard", 4),
    ...repeated("masters", 2),
    ...repeated("phd", 2),
  ],
};
export const challengeKinds = Object.keys(plans) as ChallengeKind[];

/** Questions of the bank per category and difficulty that a challenge may need when nothing is stored. */
const stockPerCell = 2;

/** Days in which a question is not repeated while there are others. */
const restDays = 90;
const dayMs = 86_400_000;
/** Lead time of a challenge before its date begins anywhere. */
const leadMs = 6 * 3_600_000;

const before = (date: string, days: number) =>
  new Date(Date.parse(date) - days * dayMs).toISOString().slice(0, 10);

export interface MakeOptions {
  now: number;
  /**
   * Live questions of lobbies: used only when nothing else is left. Called while a connection is held, so it must not
   * acquire another one.
   */
  avoid?: (category: string, difficulty: string) => Promise<readonly number[]>;
}

/** Dates whose challenges must exist: today in any time zone, and the next day. */
export function datesDue(now: number): string[] {
  return datesBetween(earliestDate(now), latestDate(now + leadMs));
}

/**
 * Creates the missing challenges of these dates, equal for everyone (RUN-06). Concurrent callers create them once.
 * While the competition pool has too few questions for one, there is none. Returns all existing ones.
 */
export async function makeChallenges(
  em: EntityManager,
  dates: readonly string[],
  options: MakeOptions,
): Promise<ChallengeRow[]> {
  const present = await listChallenges(em, dates);
  if (present.length === dates.length * challengeKinds.length) return present;
  return em.transactional(async (tx) => {
    await lockChallenges(tx);
    const known = await listChallenges(tx, dates);
    for (const date of dates)
      for (const kind of challengeKinds)
        if (!known.some((one) => one.kind === kind && one.date === date))
          await makeOne(tx, kind, date, options);
    return listChallenges(tx, dates);
  });
}

export interface StockDeps extends WithEm, WithLog, WithOrigin {
  questionBank: QuestionModel;
}

/**
 * Stores questions of the bank for a first challenge, since a new database may have none or too few. In one transaction:
 * otherwise a concurrent challenge would have the first categories only.
 */
export async function stockChallenges({ em, log, origin, questionBank }: StockDeps): Promise<void> {
  const wanted = { prompt: null, model: null, pool: "competition" as const, count: stockPerCell };
  await em.transactional(async (tx) => {
    for (const category of categories)
      for (const difficulty of new Set(Object.values(plans).flat()))
        await makeQuestions({ em: tx, log, origin }, questionBank, {
          ...{ ...wanted, category, difficulty },
        });
  });
}

async function makeOne(
  em: EntityManager,
  kind: ChallengeKind,
  date: string,
  options: MakeOptions,
): Promise<void> {
  const used = await listChallengeQuestions(em, before(date, restDays), before(date, -restDays));
  const questions: QuestionRow[] = [];
  const places = shuffled(categories);
  for (const [at, difficulty] of plans[kind].entries()) {
    const category =
      kind === "daily_shuffle" ? places[at % places.length] : places[randomInt(places.length)];
    const chosen = questions.map(({ id }) => id);
    const criteria = { category: category ?? categories[0], difficulty };
    const found = await drawOne(em, { criteria, chosen, used, avoid: options.avoid });
    // Too few are stored for what the challenge promises.
    if (found.length === 0) return;
    questions.push(...found);
  }
  const ordered =
    kind === "gauntlet"
      ? questions.toSorted((a, b) => weightOf(a.difficulty) - weightOf(b.difficulty))
      : shuffled(questions);
  const questionIds = ordered.map(({ id }) => id);
  await insertChallenge(em, { kind, date, questionIds, at: new Date(options.now) });
}

interface DrawRequest {
  criteria: { category: string; difficulty: Difficulty };
  /** Used in this challenge. */
  chosen: readonly number[];
  /** Used in a recent challenge. */
  used: readonly number[];
  avoid: MakeOptions["avoid"];
}

/** One question of the wanted category and difficulty, else of others; none in an empty pool. */
async function drawOne(
  em: EntityManager,
  { criteria, chosen, used, avoid }: DrawRequest,
): Promise<QuestionRow[]> {
  const live = (await avoid?.(criteria.category, criteria.difficulty)) ?? [];
  const filter = {
    pool: "competition" as const,
    promptHash: null,
    count: 1,
    preferUnseenBy: [],
  };
  const fresh = { ...filter, excludeIds: [...chosen, ...used, ...live], freshOnly: true };
  for (const bounds of [fresh, { ...filter, excludeIds: chosen }])
    for (const choice of [criteria, ...alternatives(criteria)]) {
      const found = await drawQuestions(em, { ...bounds, ...choice });
      if (found.length > 0) return found;
    }
  return [];
}

/** Fallbacks: the same category at other difficulties of the weight, then other categories, then any question. */
function alternatives({ category, difficulty }: DrawRequest["criteria"]) {
  const weight = weightOf(difficulty);
  const others = shuffled(categories.filter((name) => name !== category));
  const distance = (name: Difficulty) => Math.abs(weightOf(name) - weight);
  const near = [...ladder].sort((a, b) => distance(a) - distance(b));
  return [
    ...near.filter((name) => distance(name) === 0).map((name) => ({ category, difficulty: name })),
    ...others.map((name) => ({ category: name, difficulty })),
    ...near.flatMap((name) =>
      [category, ...others].map((each) => ({ category: each, difficulty: name })),
    ),
  ];
}

const ladder: readonly Difficulty[] = [
  "easy",
  "medium",
  "hard",
  "undergrad",
  "high_school",
  "middle_school",
  "elementary",
  "masters",
  "phd",
  "postdoc",
];

function shuffled<T>(list: readonly T[]): T[] {
  const all = [...list];
  for (let at = all.length - 1; at > 0; at--) {
    const other = randomInt(at + 1);
    const [a, b] = [all[at], all[other]];
    if (a !== undefined && b !== undefined) [all[at], all[other]] = [b, a];
  }
  return all;
}
