import Type from "typebox";
import { CatalogQuestion } from "../questions/schemas.ts";
import {
  NullableTimestamp,
  nullable,
  NumQuestions,
  NumQuestionsRequested,
  Timestamp,
} from "./schemas.ts";

const ResultPlayer = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    is_host: Type.Boolean(),
    account_id: nullable("integer"),
    has_left: Type.Boolean({
      description: "true if the player left or was removed before the end",
    }),
    rank: Type.Integer({ description: "by score; equal scores share one" }),
    score: Type.Integer(),
    best_streak: Type.Integer(),
    num_correct: Type.Integer(),
    num_answered: Type.Integer({ description: "without timeouts" }),
    total_time_ms: Type.Integer(),
    xp_gained: Type.Integer(),
    joined_at: Timestamp,
  },
  { title: "LobbyResultPlayer" },
);

const ResultAnswer = Type.Object(
  {
    player_id: Type.Integer(),
    selected_index: Type.Integer({ description: "-1 is a timeout" }),
    is_correct: Type.Boolean(),
    points_earned: Type.Integer(),
    xp_gained: Type.Integer(),
    time_taken_ms: Type.Integer(),
    score: Type.Integer({ description: "after this question" }),
    streak: Type.Integer(),
  },
  { title: "LobbyResultAnswer" },
);

const ResultQuestion = Type.Object(
  {
    index: Type.Integer(),
    question: CatalogQuestion,
    answer_hash: nullable("string"),
    answer_salt: nullable("string"),
    started_at_ms: Type.Integer(),
    closed_at_ms: Type.Integer(),
    closed_by: Type.Enum(["all_answered", "lock", "timer", "next"]),
    results: Type.Array(ResultAnswer),
  },
  { title: "LobbyResultQuestion" },
);

/** A finished game, per question and per seat. */
export const Results = Type.Object({
  results: Type.Object(
    {
      id: Type.Integer(),
      code: Type.String(),
      host_name: Type.String(),
      mode: Type.Enum(["coop", "versus"]),
      category: nullable("string"),
      selected_categories: Type.Array(Type.String()),
      difficulty: nullable("string"),
      prompt: nullable("string"),
      timer: Type.Integer(),
      num_questions: NumQuestions,
      num_questions_requested: NumQuestionsRequested,
      is_endless: Type.Boolean(),
      created_at: Timestamp,
      started_at: NullableTimestamp,
      finished_at: NullableTimestamp,
      end_reason: nullable("string"),
      players: Type.Array(ResultPlayer, { description: "by rank" }),
      questions: Type.Array(ResultQuestion, { description: "the closed questions, in order" }),
    },
    { title: "LobbyResults" },
  ),
});

export const ResultsQuery = Type.Object({
  format: Type.Optional(
    Type.Enum(["json", "csv"], {
      description:
        "csv returns text/csv, one line per question and seat; default: the type in Accept",
    }),
  ),
});
