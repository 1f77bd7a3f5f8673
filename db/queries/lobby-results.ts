import { sql } from "kysely";
import type { EntityManager } from "@mikro-orm/postgresql";
import { rowsOf } from "./rows.ts";

export interface NewLobbyResult {
  lobbyId: number;
  code: string;
  realm: string;
  hostPlayerId: number | null;
  mode: string;
  settings: unknown;
  startedAt: Date | null;
  finishedAt: Date;
  endReason: string;
  sheet: unknown;
}

export interface NewLobbyAnswer {
  questionIndex: number;
  seatId: number;
  playerId: number | null;
  questionId: number;
  selectedIndex: number;
  isCorrect: boolean;
  pointsEarned: number;
  timeTakenMs: number;
}

/** Stores a finished lobby; null when it is stored already. */
export async function insertLobbyResult(
  em: EntityManager,
  result: NewLobbyResult,
): Promise<number | null> {
  const rows = await rowsOf<{ id: number }>(
    em,
    sql`insert into lobby_results
        (lobby_id, code, realm, host_player_id, mode, settings, started_at, finished_at, end_reason, sheet)
      values (${result.lobbyId}, ${result.code}, ${result.realm}, ${result.hostPlayerId}, ${result.mode},
        ${JSON.stringify(result.settings)}::jsonb, ${result.startedAt}, ${result.finishedAt}, ${result.endReason},
        ${JSON.stringify(result.sheet)}::jsonb)
      on conflict (lobby_id) do nothing returning id`,
  );
  return rows[0]?.id ?? null;
}

/** The newest game played under this code, one this player hosted before others; null when there was none. */
export async function findLobbyResult(
  em: EntityManager,
  code: string,
  hostPlayerId: number | null,
): Promise<{ hostPlayerId: number | null; sheet: unknown } | null> {
  const rows = await rowsOf<{ hostPlayerId: number | null; sheet: unknown }>(
    em,
    sql`select host_player_id as "hostPlayerId", sheet from lobby_results where code = ${code}
      order by (host_player_id is not distinct from ${hostPlayerId}::int) desc, finished_at desc limit 1`,
  );
  return rows[0] ?? null;
}

export async function insertLobbyAnswers(
  em: EntityManager,
  resultId: number,
  answers: readonly NewLobbyAnswer[],
): Promise<void> {
  if (answers.length === 0) return;
  const rows = answers.map((a) => ({
    question_index: a.questionIndex,
    seat_id: a.seatId,
    player_id: a.playerId,
    question_id: a.questionId,
    selected_index: a.selectedIndex,
    is_correct: a.isCorrect,
    points_earned: a.pointsEarned,
    time_taken_ms: a.timeTakenMs,
  }));
  await rowsOf(
    em,
    sql`insert into lobby_answers (lobby_result_id, question_index, seat_id, player_id, question_id,
        selected_index, is_correct, points_earned, time_taken_ms)
      select ${resultId}::int, x.* from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as x(question_index int,
        seat_id int, player_id int, question_id int, selected_index int, is_correct boolean, points_earned int, time_taken_ms int)`,
  );
}
