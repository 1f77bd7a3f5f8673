import Type from "typebox";
import { newNameForm } from "../../platform/text/name-rules.ts";
import { difficulties } from "../questions/providers/question-model.ts";
import { CatalogQuestion, named, promptRule } from "../questions/schemas.ts";

export const nullable = <T extends string>(type: T, extra: Record<string, unknown> = {}) =>
  Type.Unsafe<(T extends "integer" ? number : string) | null>({ type: [type, "null"], ...extra });
export const Timestamp = Type.String({ description: "ISO 8601, YYYY-MM-DDTHH:MM:SS+00:00" });
export const NullableTimestamp = nullable("string", {
  description: "ISO 8601, YYYY-MM-DDTHH:MM:SS+00:00",
});

const timers = [10, 15, 20, 30, 45, 60] as const;
const Timer = nullable("integer", {
  enum: [...timers, null],
  description: "seconds; 30 when null (LOB-07)",
});
const Mode = Type.Enum(["coop", "versus"]);
const Visibility = Type.Enum(["public", "private"]);
const Difficulty = Type.Unsafe<string | null>({
  type: ["string", "null"],
  maxLength: 32,
  enum: [...difficulties, "auto", null],
});
const Prompt = nullable("string", { maxLength: 256, ...promptRule });
/** LOB-06 */
const PlayerName = Type.String({ format: "new-name", description: newNameForm() });

export const PlayerParams = Type.Object({ code: Type.String(), playerId: Type.Integer() });

export const CreateBody = Type.Object({
  hostName: PlayerName,
  category: Type.Optional(named(nullable("string", { maxLength: 64 }))),
  timer: Type.Optional(Timer),
  numQuestions: Type.Optional(
    nullable("integer", { minimum: 1, maximum: 100, description: "null means endless" }),
  ),
  visibility: Type.Optional(Visibility),
  mode: Type.Optional(Mode),
  maxPlayers: Type.Optional(Type.Integer({ minimum: 2, maximum: 16 })),
  difficulty: Type.Optional(Difficulty),
  prompt: Type.Optional(Prompt),
});

export const JoinBody = Type.Object({ name: PlayerName });

export const SettingsBody = Type.Object({
  difficulty: Type.Optional(Difficulty),
  prompt: Type.Optional(Prompt),
  selected_categories: Type.Optional(
    Type.Array(named(Type.String({ maxLength: 64 })), { maxItems: 10 }),
  ),
  timer: Type.Optional(Timer),
  blend: Type.Optional(Type.Boolean()),
  review: Type.Optional(Type.Boolean()),
  num_questions: Type.Optional(nullable("integer", { minimum: 1, maximum: 100 })),
  visibility: Type.Optional(Visibility),
  mode: Type.Optional(Mode),
});

const QuestionIndex = Type.Optional(
  Type.Integer({
    minimum: 0,
    description: "index of the question; refused if another one is current (LOB-28)",
  }),
);

export const AnswerBody = Type.Object({
  selected_index: Type.Integer({ minimum: -1, maximum: 3 }),
  time_taken_ms: Type.Integer({ minimum: 0, maximum: 600_000 }),
  index: QuestionIndex,
});

export const PickBody = Type.Object({
  selected_index: Type.Integer({ minimum: 0, maximum: 3 }),
  index: QuestionIndex,
});

export const IndexBody = Type.Object({ index: QuestionIndex });

export const KickQuery = Type.Object({
  ban: Type.Optional(
    Type.Boolean({ description: "also refuse that account or lobby token later (LOB-25)" }),
  ),
});

const SeatRef = Type.Object(
  { id: Type.Integer(), name: Type.String(), is_host: Type.Boolean() },
  { title: "LobbySeat" },
);

const PlayerEntry = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    is_host: Type.Boolean(),
    account_id: nullable("integer"),
    avatar_url: nullable("string"),
    score: Type.Integer(),
    streak: Type.Integer(),
    best_streak: Type.Integer(),
    num_correct: Type.Integer(),
    is_connected: Type.Boolean(),
    has_answered: Type.Boolean(),
    joined_at: Timestamp,
  },
  { title: "LobbyPlayer" },
);

const CurrentQuestion = Type.Object(
  {
    id: Type.Integer(),
    type: Type.Literal("multiple_choice"),
    category: Type.String(),
    difficulty: Type.String(),
    question: Type.String(),
    payload: Type.Object({ choices: Type.Array(Type.String()), estimated_rate: Type.Integer() }),
    is_cached: Type.Boolean(),
    answer_hash: nullable("string", {
      description:
        "hex SHA-256 of `<answer_salt>\\n<id>\\n<correct_index>\\n<text of the correct choice>`; the reveal contains the salt",
    }),
    index: Type.Integer(),
    started_at_ms: Type.Integer(),
    ends_at_ms: Type.Integer(),
  },
  { title: "LobbyQuestion" },
);

const ClosedBy = Type.Enum(["all_answered", "lock", "timer", "next"]);
const Result = Type.Object(
  {
    player_id: Type.Integer(),
    selected_index: Type.Integer(),
    is_correct: Type.Boolean(),
    points_earned: Type.Integer(),
    time_taken_ms: Type.Integer(),
    score: Type.Integer(),
    streak: Type.Integer(),
  },
  { title: "LobbyResult" },
);
const AnswerSalt = nullable("string", { description: "proves `answer_hash` of the question" });

const Reveal = Type.Object(
  {
    question_id: Type.Integer(),
    index: Type.Integer(),
    correct_index: Type.Integer(),
    answer_salt: AnswerSalt,
    explanation: Type.String(),
    correct_rate: Type.Integer(),
    num_served: Type.Integer(),
    results: Type.Array(Result),
    closed_by: ClosedBy,
  },
  { title: "LobbyReveal" },
);

const ReviewItem = Type.Object(
  {
    index: Type.Integer(),
    question: CatalogQuestion,
    answer_hash: nullable("string"),
    answer_salt: AnswerSalt,
    closed_by: ClosedBy,
    results: Type.Array(Result),
  },
  { title: "LobbyReviewItem" },
);

export const NumQuestions = nullable("integer", {
  description: "questions of the game: after the start those drawn; null means endless (LOB-29)",
});
export const NumQuestionsRequested = nullable("integer", {
  description: "questions asked for by the settings; null means endless (LOB-29)",
});

const HubAddress = Type.Object(
  { url: Type.String(), topic: Type.String() },
  { title: "HubAddress" },
);

export const LobbyWire = Type.Object(
  {
    id: Type.Integer(),
    code: Type.String(),
    host_name: Type.String(),
    category: nullable("string"),
    difficulty: nullable("string"),
    prompt: nullable("string"),
    selected_categories: Type.Array(Type.String()),
    blend: Type.Boolean(),
    review: Type.Boolean(),
    timer: Type.Integer(),
    num_questions: NumQuestions,
    num_questions_requested: NumQuestionsRequested,
    is_endless: Type.Boolean(),
    status: Type.Enum(["waiting", "in_progress", "finished"]),
    visibility: Visibility,
    mode: Mode,
    max_players: Type.Integer(),
    current_index: Type.Integer(),
    created_at: Timestamp,
    started_at: NullableTimestamp,
    finished_at: NullableTimestamp,
    current_question_started_at_ms: nullable("integer"),
    server_now_ms: Type.Integer(),
    players: Type.Array(PlayerEntry),
    current_question: Type.Union([CurrentQuestion, Type.Null()]),
    answered_player_ids: Type.Array(Type.Integer()),
    host_disconnect: Type.Union([
      Type.Object({ since_ms: Type.Integer(), ends_at_ms: Type.Integer() }),
      Type.Null(),
    ]),
    reveal: Type.Union([Reveal, Type.Null()]),
    spectator_count: Type.Integer({ description: "streams without a seat (HUB-08)" }),
    seq: Type.Integer(),
    hub: HubAddress,
    review_items: Type.Optional(
      Type.Array(ReviewItem, { description: "of a finished lobby with `review` (LOB-23)" }),
    ),
  },
  { title: "Lobby" },
);

export const LobbyOnly = Type.Object({ lobby: LobbyWire });
export const LobbyAndPlayer = Type.Object({
  lobby: LobbyWire,
  player: Type.Union([SeatRef, Type.Null()]),
  picks: Type.Optional(
    Type.Array(Type.Object({ player_id: Type.Integer(), selected_index: Type.Integer() }), {
      description: "for a seat in co-op while a question is open: all current picks",
    }),
  ),
});
export const LobbyList = Type.Object({ lobbies: Type.Array(LobbyWire) });
export const Created = Type.Object({
  lobby: LobbyWire,
  player: SeatRef,
  player_token: Type.String(),
});
export const Joined = Type.Object({ player: SeatRef, player_token: Type.String() });
export const Ok = Type.Object({ ok: Type.Literal(true) });

export const VersusResult = Type.Object(
  {
    is_correct: Type.Boolean(),
    answer: Type.Integer(),
    explanation: Type.String(),
    correct_rate: Type.Integer(),
    num_served: Type.Integer(),
    xp_gained: Type.Integer({ description: "less for a question answered before the game" }),
    points_earned: Type.Integer(),
    score: Type.Integer(),
    streak: Type.Integer(),
    best_streak: Type.Integer(),
    is_question_closed: Type.Boolean(),
  },
  { title: "VersusResult" },
);
