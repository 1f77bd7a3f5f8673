import type { ResultSheet } from "../../../actors/index.ts";
import { acceptedTypes } from "../../http/pipeline/accept.ts";
import { csvOf } from "../../platform/text/csv.ts";

type Question = ResultSheet["questions"][number];
type Answer = Question["results"][number];
type Seat = ResultSheet["seats"][number];

/** Column -> its value; choices are counted from 0. */
const columns: Record<string, (q: Question, a: Answer, seat: Seat) => string | number> = {
  question_index: (q) => q.index,
  question_id: (q) => q.id,
  category: (q) => q.category,
  difficulty: (q) => q.difficulty,
  question: (q) => q.question,
  correct_index: (q) => q.correctIndex,
  correct_answer: (q) => q.answers[q.correctIndex] ?? "",
  closed_by: (q) => q.closedBy,
  player_id: (_, a) => a.seatId,
  player_name: (_, __, seat) => seat.name,
  is_host: (_, __, seat) => String(seat.isHost),
  has_left: (_, __, seat) => String(seat.hasLeft),
  selected_index: (_, a) => a.selectedIndex,
  selected_answer: (q, a) => q.answers[a.selectedIndex] ?? "",
  is_correct: (_, a) => String(a.isCorrect),
  points_earned: (_, a) => a.pointsEarned,
  time_taken_ms: (_, a) => a.timeTakenMs,
  score: (_, a) => a.score,
  streak: (_, a) => a.streak,
};

/** One line per question and seat. */
export function resultsCsv(sheet: ResultSheet): string {
  const seats = new Map(sheet.seats.map((seat) => [seat.id, seat]));
  const rows = sheet.questions.flatMap((question) =>
    question.results.flatMap((answer) => {
      const seat = seats.get(answer.seatId);
      return seat ? [Object.values(columns).map((read) => read(question, answer, seat))] : [];
    }),
  );
  return csvOf(Object.keys(columns), rows);
}

/** True when the Accept header names CSV and does not prefer JSON. */
export function prefersCsv(accept: string | undefined): boolean {
  const quality = acceptedTypes(accept);
  const csv = quality.get("text/csv") ?? 0;
  return csv > 0 && csv >= (quality.get("application/json") ?? 0);
}
