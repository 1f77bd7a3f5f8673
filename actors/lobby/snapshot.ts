import { currentQuestion, numQuestionsOf } from "./questions.ts";
import { revealedQuestion } from "./rounds.ts";
import { ratesOf } from "./scoring.ts";
import { hostOf, seatById } from "./seats.ts";
import type { AnswerResult, DrawnQuestion, Lobby, PlayedQuestion, Seat } from "./types.ts";

/** Where clients subscribe: address of the hub and prefix of topics (HUB-01). */
export interface WireContext {
  hubUrl: string;
  topicBase: string;
}

type Wire = Record<string, unknown>;

/** Milliseconds since the Unix epoch as ISO 8601 in UTC without fractions (document 1, Field conventions). */
export const timestamp = (ms: number): string =>
  `${new Date(ms).toISOString().slice(0, -".000Z".length)}+00:00`;
const timestampOrNull = (ms: number | null) => (ms === null ? null : timestamp(ms));

/**
 * The public view of a lobby (document 2, Lobby; LOB-08..LOB-11). It contains the correct answer only once
 * the question is closed (S15). `server_now_ms` is the last member, so that a stored text can be completed.
 */
export function lobbySnapshot(lobby: Lobby, now: number, context: WireContext): Wire {
  const { settings } = lobby;
  const isPlaying = lobby.status === "in_progress";
  return {
    id: lobby.id,
    code: lobby.code,
    host_name: hostOf(lobby)?.name ?? "",
    category: settings.category,
    difficulty: settings.difficulty,
    prompt: settings.prompt,
    selected_categories: settings.selected_categories,
    blend: settings.blend,
    review: settings.review,
    timer: settings.timer,
    num_questions: numQuestionsOf(lobby),
    num_questions_requested: settings.num_questions,
    is_endless: settings.num_questions === null,
    status: lobby.status,
    visibility: settings.visibility,
    mode: settings.mode,
    max_players: lobby.maxPlayers,
    current_index: lobby.round?.index ?? 0,
    created_at: timestamp(lobby.createdAt),
    started_at: timestampOrNull(lobby.startedAt),
    finished_at: timestampOrNull(lobby.finishedAt),
    current_question_started_at_ms: isPlaying ? (lobby.round?.startedAt ?? null) : null,
    players: lobby.seats.map((seat) => wirePlayer(lobby, seat)),
    current_question: isPlaying ? playForm(lobby) : null,
    answered_player_ids: answeredIds(lobby),
    host_disconnect: hostDisconnectOf(lobby),
    reveal: revealOf(lobby),
    spectator_count: lobby.spectatorCount ?? 0,
    ...reviewOf(lobby),
    seq: lobby.seq,
    hub: { url: context.hubUrl, topic: `${context.topicBase}/lobby/${lobby.code}` },
    server_now_ms: now,
  };
}

function answeredIds(lobby: Lobby): number[] {
  return lobby.round?.choices.map((choice) => choice.seatId) ?? [];
}

function wirePlayer(lobby: Lobby, seat: Seat): Wire {
  return {
    id: seat.id,
    name: seat.name,
    is_host: seat.isHost,
    account_id: seat.accountId,
    avatar_url: seat.avatarUrl,
    score: seat.score,
    streak: seat.streak,
    best_streak: seat.bestStreak,
    num_correct: seat.numCorrect,
    is_connected: seat.isConnected,
    has_answered: answeredIds(lobby).includes(seat.id),
    joined_at: timestamp(seat.joinedAt),
  };
}

/** The players entry of a seat, or null if the seat is empty. */
export function playerOf(lobby: Lobby, seatId: number): Wire | null {
  const seat = seatById(lobby, seatId);
  return seat ? wirePlayer(lobby, seat) : null;
}

/** The current question in play form (LOB-09), without answer and explanation. */
function playForm(lobby: Lobby): Wire | null {
  const question = currentQuestion(lobby);
  const { round } = lobby;
  if (!question || !round) return null;
  return {
    id: question.id,
    type: "multiple_choice",
    category: question.category,
    difficulty: question.difficulty,
    question: question.text,
    payload: { choices: question.choices, estimated_rate: question.estimatedRate },
    is_cached: question.isCached,
    answer_hash: question.answerHash ?? null,
    index: round.index,
    started_at_ms: round.startedAt,
    ends_at_ms: round.endsAt,
  };
}

export function hostDisconnectOf(lobby: Lobby): Wire | null {
  const gone = lobby.hostDisconnect;
  return gone && { since_ms: gone.since, ends_at_ms: gone.endsAt };
}

/** The reveal of the current question, or null while it is open (LOB-11). */
export function revealOf(lobby: Lobby): Wire | null {
  const played = revealedQuestion(lobby);
  const question = currentQuestion(lobby);
  if (!played || !question) return null;
  return {
    question_id: question.id,
    index: played.index,
    correct_index: question.correctIndex,
    answer_salt: question.answerSalt ?? null,
    explanation: question.explanation,
    ...ratesOf(question, played.results),
    results: played.results.map(wireResult),
    closed_by: played.closedBy,
  };
}

function wireResult(result: AnswerResult): Wire {
  return {
    player_id: result.seatId,
    selected_index: result.selectedIndex,
    is_correct: result.isCorrect,
    points_earned: result.pointsEarned,
    time_taken_ms: result.timeTakenMs,
    score: result.score,
    streak: result.streak,
  };
}

/** `review_items` of a finished lobby, if its host enabled them (LOB-23). */
function reviewOf(lobby: Lobby): Wire {
  if (lobby.status !== "finished" || !lobby.settings.review) return {};
  const items = lobby.played.flatMap((played) => {
    const question = lobby.questions[played.index];
    return question ? [reviewItem(played, question)] : [];
  });
  return { review_items: items };
}

function reviewItem(played: PlayedQuestion, question: DrawnQuestion): Wire {
  return {
    index: played.index,
    question: {
      id: question.id,
      type: "multiple_choice",
      category: question.category,
      difficulty: question.difficulty,
      question: question.text,
      answers: question.choices,
      correct_index: question.correctIndex,
      explanation: question.explanation,
    },
    answer_hash: question.answerHash ?? null,
    answer_salt: question.answerSalt ?? null,
    closed_by: played.closedBy,
    results: played.results.map(wireResult),
  };
}

/**
 * The entry of the public list as JSON text without its last member: the reader appends
 * `,"server_now_ms":N}`. Null if the lobby is not listed (LOB-04).
 */
export function listingOf(lobby: Lobby, context: WireContext): string | null {
  if (lobby.settings.visibility !== "public" || lobby.status === "finished") return null;
  const { server_now_ms: _, ...rest } = lobbySnapshot(lobby, 0, context);
  return JSON.stringify(rest).slice(0, -1);
}
