import type { Static } from "typebox";
import type { ResultSheet } from "../../../actors/index.ts";
import { findLobbyResult } from "../../../db/queries/lobbies/lobby-results.ts";
import { timestamp } from "../../platform/time/clock.ts";
import { AppError } from "../../platform/errors.ts";
import type { LobbyDeps } from "./deps.ts";
import type { SeatCaller } from "../../http/auth/auth.ts";
import type { Results } from "./results-schema.ts";
import { lobbyCallerOf } from "./service.ts";

/**
 * Results for the host: from the lobby while it is readable, then from Postgres, which has only the player bound to
 * the host's seat. By then another lobby with another host may have the code. Throws `lobby:not_host` and
 * `lobby:not_finished`.
 */
export async function readResults(
  deps: LobbyDeps,
  caller: SeatCaller,
  code: string,
): Promise<ResultSheet> {
  const reply = await deps.lobbies.ask(code, { type: "results", by: lobbyCallerOf(caller) });
  if (reply.ok) return JSON.parse(reply.body ?? "null") as ResultSheet;
  const isTaken = reply.code === "lobby:not_host";
  if (!isTaken && reply.code !== "lobby:not_found")
    throw new AppError(reply.code, reply.params ? { params: reply.params } : {});
  const playerId = caller.player?.playerId ?? null;
  if (isTaken && playerId === null) throw new AppError("lobby:not_host");
  const stored = await findLobbyResult(deps.em, code, playerId);
  if (stored && playerId !== null && stored.hostPlayerId === playerId)
    return stored.sheet as ResultSheet;
  throw new AppError(isTaken || stored ? "lobby:not_host" : "lobby:not_found");
}

type Wire = Static<typeof Results>["results"];

export function presentResults(sheet: ResultSheet): Wire {
  const { settings } = sheet;
  return {
    id: sheet.id,
    code: sheet.code,
    host_name: sheet.seats.find((seat) => seat.isHost)?.name ?? "",
    mode: settings.mode,
    category: settings.category,
    selected_categories: settings.selected_categories,
    difficulty: settings.difficulty,
    prompt: settings.prompt,
    timer: settings.timer,
    num_questions: sheet.numQuestions ?? settings.num_questions,
    num_questions_requested: settings.num_questions,
    is_endless: settings.num_questions === null,
    created_at: timestamp(sheet.createdAt),
    started_at: sheet.startedAt === null ? null : timestamp(sheet.startedAt),
    finished_at: sheet.finishedAt === null ? null : timestamp(sheet.finishedAt),
    end_reason: sheet.endReason,
    players: presentPlayers(sheet),
    questions: sheet.questions.map(presentQuestion),
  };
}

function presentPlayers({ seats }: ResultSheet): Wire["players"] {
  const byScore = seats.toSorted((a, b) => b.score - a.score || a.id - b.id);
  return byScore.map((seat) => ({
    id: seat.id,
    name: seat.name,
    is_host: seat.isHost,
    account_id: seat.accountId,
    has_left: seat.hasLeft,
    rank: 1 + seats.filter((other) => other.score > seat.score).length,
    score: seat.score,
    best_streak: seat.bestStreak,
    num_correct: seat.numCorrect,
    num_answered: seat.numAnswered,
    total_time_ms: seat.totalTimeMs,
    xp_gained: seat.xpGained,
    joined_at: timestamp(seat.joinedAt),
  }));
}

function presentQuestion(played: ResultSheet["questions"][number]): Wire["questions"][number] {
  const { id, type, category, difficulty, question, answers, correctIndex, explanation } = played;
  const catalog = { id, type, category, difficulty, question, answers };
  return {
    index: played.index,
    question: { ...catalog, correct_index: correctIndex, explanation },
    answer_hash: played.answerHash ?? null,
    answer_salt: played.answerSalt ?? null,
    started_at_ms: played.startedAt,
    closed_at_ms: played.closedAt,
    closed_by: played.closedBy,
    results: played.results.map((result) => ({
      player_id: result.seatId,
      selected_index: result.selectedIndex,
      is_correct: result.isCorrect,
      points_earned: result.pointsEarned,
      xp_gained: result.xpGained,
      time_taken_ms: result.timeTakenMs,
      score: result.score,
      streak: result.streak,
    })),
  };
}
