import { systemClock, timestamp } from "../../../platform/time/clock.ts";
import { AppError } from "../../../platform/errors.ts";
import type {
  QualityFilter,
  QualityRow,
  QuestionProblem,
  Suspicion,
} from "../../../../db/queries/questions/question-quality.ts";
import type { AccountStores } from "../../accounts/domain/accounts.ts";
import { recordingUndone, type RecordUndone } from "../../operators/domain/undone-changes.ts";

/**
 * Fewer answers are not significant. A guess is right one time in four, so a question with a lower rate is
 * misleading or has a wrong key. A question that everybody answers correctly is too easy.
 */
export const suspicion: Suspicion = { fewestServed: 20, hardRate: 10, easyRate: 97 };

export const questionProblems: readonly QuestionProblem[] = [
  "reported",
  "too_hard",
  "too_easy",
  "retired",
];

export const questionVerbs = ["retire", "restore", "dismiss-reports"] as const;
export type QuestionVerb = (typeof questionVerbs)[number];

/** Operator actions on questions; unknown ids throw `question:not_found`. */
export interface QuestionService {
  list(filter: QualityFilter): Promise<{ rows: QualityRow[]; total: number }>;
  find(id: number): Promise<QualityRow>;
  /** Makes a change and writes its audit record in one transaction; one that is refused is recorded too. */
  change(
    id: number,
    verb: QuestionVerb,
    by: { operator: string; reason: string; requestId: string },
  ): Promise<QualityRow>;
}

type InStores = <T>(work: (stores: AccountStores) => Promise<T>) => Promise<T>;

/** Loads the queries at the first call, like the database layer. */
export function createQuestionService(
  inStores: InStores,
  recordUndone: RecordUndone,
): QuestionService {
  const queries = () => import("../../../../db/queries/questions/question-quality.ts");
  const found = async ({ em }: AccountStores, id: number) => {
    const row = await (await queries()).findQuality(em, id);
    if (row === null) throw new AppError("question:not_found");
    return row;
  };
  return {
    list: (filter) =>
      inStores(async ({ em }) => (await queries()).listProblematic(em, filter, suspicion)),
    find: (id) => inStores((stores) => found(stores, id)),
    change: (id, verb, by) => {
      const entry = { ...by, action: `question:${verb}`, target: `question ${id}` };
      return recordingUndone(recordUndone, entry, () =>
        inStores(async (stores) => {
          const { resolveReports, setRetired } = await queries();
          const { recordChange } = await import("../../operators/domain/operators.ts");
          const now = new Date(systemClock.now());
          await found(stores, id);
          if (verb === "restore") await setRetired(stores.em, id, null);
          if (verb === "retire") await setRetired(stores.em, id, now);
          if (verb !== "restore") await resolveReports(stores.em, id, now);
          await recordChange(stores.em, { ...entry, numChanged: 1 });
          return found(stores, id);
        }),
      );
    },
  };
}

/** The problems of a question. */
export function problemsOf(row: QualityRow): QuestionProblem[] {
  const rate = row.numServed === 0 ? null : (100 * row.numCorrect) / row.numServed;
  const isServed = rate !== null && row.numServed >= suspicion.fewestServed;
  return [
    ...(row.numReports > 0 ? ["reported" as const] : []),
    ...(isServed && rate <= suspicion.hardRate ? ["too_hard" as const] : []),
    ...(isServed && rate >= suspicion.easyRate ? ["too_easy" as const] : []),
    ...(row.retiredAtMs === null ? [] : ["retired" as const]),
  ];
}

/** Viewers do not see answers that are still secret to players (S15). */
export function presentQuality(row: QualityRow, { role }: { role: string }) {
  const isOpen = row.pool === "public" || role !== "viewer";
  return {
    id: row.id,
    category: row.category,
    difficulty: row.difficulty,
    pool: row.pool,
    source: row.source,
    question: row.question,
    choices: row.choices,
    correct_index: isOpen ? row.correctIndex : null,
    explanation: isOpen ? row.explanation : null,
    estimated_rate: row.estimatedRate,
    correct_rate: row.numServed === 0 ? null : Math.round((100 * row.numCorrect) / row.numServed),
    num_served: row.numServed,
    problems: problemsOf(row),
    num_reports: row.numReports,
    reports: row.reports,
    comments: row.comments,
    created_at: timestamp(row.createdAtMs),
    retired_at: row.retiredAtMs === null ? null : timestamp(row.retiredAtMs),
  };
}
