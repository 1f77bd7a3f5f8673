import { currentQuestion, drawPlan } from "./questions.ts";
import { resultSheet } from "./result-sheet.ts";
import { currentResults, openRound } from "./rounds.ts";
import { ratesOf } from "./scoring.ts";
import { seatById } from "./seats.ts";
import { lobbySnapshot, type WireContext } from "./snapshot.ts";
import type { Answer, Lobby } from "./types.ts";

/**
 * JSON text of the response body, or null without one. Call it with the lobby right after the events of the
 * same decision, before a later command changes it.
 */
export function answerBody(
  lobby: Lobby,
  answer: Answer,
  now: number,
  context: WireContext,
): string | null {
  switch (answer.type) {
    case "none":
      return null;
    case "ok":
      return '{"ok":true}';
    case "lobby":
      return JSON.stringify({ lobby: lobbySnapshot(lobby, now, context) });
    case "lobby_and_player":
      return JSON.stringify({
        lobby: lobbySnapshot(lobby, now, context),
        player: ownPlayer(lobby, answer.seatId),
        ...openPicks(lobby, answer.seatId),
      });
    case "player":
      return JSON.stringify({ player: ownPlayer(lobby, answer.seatId) });
    case "result":
      return JSON.stringify(ownResult(lobby, answer.seatId));
    case "plan":
      return JSON.stringify(drawPlan(lobby));
    case "sheet":
      return JSON.stringify(resultSheet(lobby));
    case "stale_start":
      return JSON.stringify({ is_stale: true, plan: drawPlan(lobby) });
    default:
      return answer satisfies never;
  }
}

/** The caller's own seat (LOB-05). */
function ownPlayer(lobby: Lobby, seatId: number | null) {
  const seat = seatById(lobby, seatId);
  return seat ? { id: seat.id, name: seat.name, is_host: seat.isHost } : null;
}

/** A returning player gets the picks that the seats were already sent; others see no picks. */
function openPicks(lobby: Lobby, seatId: number | null) {
  const round = openRound(lobby);
  if (!round || lobby.settings.mode !== "coop" || !seatById(lobby, seatId)) return {};
  const picks = round.choices.map(({ seatId: player_id, selectedIndex: selected_index }) => ({
    player_id,
    selected_index,
  }));
  return { picks };
}

/**
 * The result that only the answering seat learns immediately (LOB-12). Its rate does not include other
 * seats' answers (S15).
 */
function ownResult(lobby: Lobby, seatId: number): Record<string, unknown> | null {
  const question = currentQuestion(lobby);
  const result = currentResults(lobby).find((one) => one.seatId === seatId);
  const seat = seatById(lobby, seatId);
  if (!question || !result || !seat) return null;
  return {
    is_correct: result.isCorrect,
    answer: question.correctIndex,
    explanation: question.explanation,
    ...ratesOf(question, [result]),
    xp_gained: result.xpGained,
    points_earned: result.pointsEarned,
    score: result.score,
    streak: result.streak,
    best_streak: Math.max(seat.bestStreak, result.streak),
    is_question_closed: openRound(lobby) === null,
  };
}
