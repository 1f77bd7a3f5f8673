import Type, { type Static } from "typebox";
import "../../platform/time/time-zones.ts";
import type { RunRow } from "../../../db/queries/runs/runs.ts";
import { timestamp } from "../../platform/time/clock.ts";
import type { Violation } from "../../platform/errors.ts";
import { named, PlayQuestion } from "../questions/schemas.ts";
import type { AnswerOutcome } from "./service.ts";
import type { ChallengeSummary as Summary } from "./challenges.ts";
import { Id, Timestamp } from "../../platform/schemas.ts";

const nullable = (type: string, options: object = {}) => ({ type: [type, "null"], ...options });
const MaybeInteger = Type.Unsafe<number | null>(nullable("integer"));
const MaybeQuestion = Type.Union([PlayQuestion, Type.Null()]);

export const RunMode = Type.Enum(["endless", "daily_shuffle", "gauntlet"]);

export const StartBody = Type.Object({
  mode: RunMode,
  challenge_id: Type.Optional(
    Type.Unsafe<number | null>(
      nullable("integer", { description: "of daily_shuffle and gauntlet; none for endless" }),
    ),
  ),
  category: Type.Optional(
    named(
      Type.Unsafe<string | null>(
        nullable("string", { maxLength: 64, description: "for endless: a category or random" }),
      ),
    ),
  ),
});

/** Required for modes with a challenge (RUN-04). */
export function challengeProblems({
  mode,
  challenge_id: id = null,
}: Readonly<Record<string, unknown>>): Violation[] {
  const problem = (title: string) => [{ propertyPath: "challenge_id", title }];
  if (mode === "endless" && id !== null) return problem("is not for endless runs");
  const isOfChallenge = mode === "daily_shuffle" || mode === "gauntlet";
  return isOfChallenge && id === null ? problem("is required") : [];
}

export const RunParams = Type.Object({ id: Id });

export const AnswerBody = Type.Object({
  selected_index: Type.Integer({ minimum: -1, maximum: 3, description: "-1 = timeout" }),
  time_taken_ms: Type.Integer({ minimum: 0, maximum: 600_000 }),
});

const runFields = {
  id: Type.Integer(),
  mode: RunMode,
  challenge_id: MaybeInteger,
  score: Type.Integer(),
  streak: Type.Integer(),
  best_streak: Type.Integer(),
  num_correct: Type.Integer(),
  current_index: Type.Integer(),
  total_time_ms: Type.Integer({ description: "times used for scoring, as measured by the server" }),
  category: Type.Union([Type.String(), Type.Null()]),
  is_finished: Type.Boolean(),
  created_at: Timestamp,
  finished_at: Type.Union([Timestamp, Type.Null()]),
};
const Run = Type.Object(runFields, { title: "Run" });

export const StartedRun = Type.Object({ ...runFields, run: Run, question: MaybeQuestion });
export const RunView = Type.Object({
  run: Run,
  question: Type.Union([PlayQuestion, Type.Null()], {
    description: "the question at current_index; null when the run is finished",
  }),
});
export const AdvancedRun = Type.Object({ run: Run, question: MaybeQuestion });

export const AnswerResult = Type.Object(
  {
    is_correct: Type.Boolean(),
    answer: Type.Integer({ minimum: 0, maximum: 3, description: "the correct choice" }),
    explanation: Type.String(),
    correct_rate: Type.Integer({ description: "percent of all answers that were correct" }),
    num_served: Type.Integer(),
    xp_gained: Type.Integer(),
    points_earned: Type.Integer(),
    streak: Type.Integer(),
    best_streak: Type.Integer(),
    next_question: MaybeQuestion,
    run_finished: Type.Boolean(),
  },
  { title: "RunAnswer" },
);

export const TodayQuery = Type.Object({
  tz: Type.String({ format: "time-zone", default: "UTC", description: "IANA identifier" }),
});

const ChallengeSummary = Type.Object(
  {
    id: Type.Integer(),
    completed: Type.Boolean(),
    in_progress: Type.Boolean(),
    run_id: MaybeInteger,
    score: MaybeInteger,
    rank: MaybeInteger,
    category: Type.Union([Type.String(), Type.Null()]),
    categories: Type.Array(Type.String()),
    difficulties: Type.Array(Type.String()),
  },
  { title: "Challenge" },
);
export const Today = Type.Object({ daily_shuffle: ChallengeSummary, gauntlet: ChallengeSummary });

export function presentRun(run: RunRow): Static<typeof Run> {
  return {
    id: run.id,
    mode: run.mode,
    challenge_id: run.challengeId,
    score: run.score,
    streak: run.streak,
    best_streak: run.bestStreak,
    num_correct: run.numCorrect,
    current_index: run.currentIndex,
    total_time_ms: run.totalTimeMs,
    category: run.category,
    is_finished: run.isFinished,
    created_at: timestamp(run.createdAtMs),
    finished_at: run.finishedAtMs === null ? null : timestamp(run.finishedAtMs),
  };
}

export function presentAnswer(
  { recorded, question, points, run }: AnswerOutcome,
  next: Static<typeof PlayQuestion> | null,
): Static<typeof AnswerResult> {
  return {
    is_correct: recorded.isCorrect,
    answer: question.correctIndex,
    explanation: question.explanation,
    correct_rate: recorded.correctRate,
    num_served: recorded.numServed,
    xp_gained: recorded.xp,
    points_earned: points,
    streak: run.streak,
    best_streak: run.bestStreak,
    next_question: next,
    run_finished: run.isFinished,
  };
}

export function presentSummary(summary: Summary): Static<typeof ChallengeSummary> {
  const { id, run, rank, categories, difficulties } = summary;
  const [only] = categories;
  return {
    id,
    completed: run?.isFinished ?? false,
    in_progress: run !== null && !run.isFinished,
    run_id: run?.id ?? null,
    score: run?.isFinished ? run.score : null,
    rank,
    category: categories.length === 1 ? (only ?? null) : null,
    categories,
    difficulties,
  };
}
