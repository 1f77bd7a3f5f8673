import { sql } from "kysely";
import type { EntityManager } from "@mikro-orm/postgresql";
import { changeRows, findRow } from "../rows.ts";

export interface NewLobbyResult {
  lobbyId: number;
  code: string;
  realm: string;
  hostPlayerId: number | null;
  mode: "coop" | "versus";
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

const jsonOf = (value: unknown) => sql<Record<string, unknown>>`${JSON.stringify(value)}::jsonb`;

/** A statement takes at most 65,535 parameters. */
const rowsPerInsert = 5_000;

/** Stores a finished lobby; null if it is already stored. */
export async function insertLobbyResult(
  em: EntityManager,
  result: NewLobbyResult,
): Promise<number | null> {
  const row = await findRow(em, (db) =>
    db
      .insertInto("lobby_results")
      .values({
        lobby_id: result.lobbyId,
        code: result.code,
        realm: result.realm,
        host_player_id: result.hostPlayerId,
        mode: result.mode,
        settings: jsonOf(result.settings),
        started_at: result.startedAt,
        finished_at: result.finishedAt,
        end_reason: result.endReason,
        sheet: jsonOf(result.sheet),
      })
      .onConflict((conflict) => conflict.column("lobby_id").doNothing())
      .returning("id"),
  );
  return row?.id ?? null;
}

/** The newest game played under this code, preferring games this player hosted; null if there is none. */
export function findLobbyResult(
  em: EntityManager,
  code: string,
  hostPlayerId: number | null,
): Promise<{ hostPlayerId: number | null; sheet: unknown } | null> {
  return findRow(em, (db) =>
    db
      .selectFrom("lobby_results")
      .select(["host_player_id as hostPlayerId", "sheet"])
      .where("code", "=", code)
      .orderBy((eb) => eb("host_player_id", "is not distinct from", hostPlayerId), "desc")
      .orderBy("finished_at", "desc")
      .limit(1),
  );
}

export async function insertLobbyAnswers(
  em: EntityManager,
  resultId: number,
  answers: readonly NewLobbyAnswer[],
): Promise<void> {
  if (answers.length === 0) return;
  const rows = answers.map((a) => ({
    lobby_result_id: resultId,
    question_index: a.questionIndex,
    seat_id: a.seatId,
    player_id: a.playerId,
    question_id: a.questionId,
    selected_index: a.selectedIndex,
    is_correct: a.isCorrect,
    points_earned: a.pointsEarned,
    time_taken_ms: a.timeTakenMs,
  }));
  for (let from = 0; from < rows.length; from += rowsPerInsert)
    await changeRows(em, (db) =>
      db.insertInto("lobby_answers").values(rows.slice(from, from + rowsPerInsert)),
    );
}
