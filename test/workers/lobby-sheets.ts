import assert from "node:assert/strict";
import { after, before } from "node:test";
import { sql } from "kysely";
import type { ResultSheet } from "../../actors/lobby/result-sheet.ts";
import { rowsOf } from "../../db/queries/rows.ts";
import { storeLobbyResult } from "../../workers/processors/lobby-results.ts";
import { questionGeneration } from "../../workers/queues.ts";
import { startApp, type App } from "../support/app.ts";
import { noOrigin } from "../../server/platform/origin.ts";

interface Given {
  seat: number;
  isCorrect: boolean;
  points?: number;
  xp?: number;
}

export let app: App;
export let questionIds: number[];
let lobbyIds = 1_000_000;
export const nextLobbyId = () => ++lobbyIds;
let seatIds = 1_000_000;

/** A finished lobby: one account (or null) per seat, one list of answers per question. */
export function sheetOf(
  accounts: (number | null)[],
  questions: { id: number; category?: string; given: Given[] }[],
): ResultSheet {
  const at = Date.now();
  const seats = accounts.map((accountId, n) => ({
    id: ++seatIds,
    name: `Seat ${n}`,
    isHost: n === 0,
    accountId,
    joinedAt: at,
    hasLeft: false,
    score: 0,
    bestStreak: 0,
    numCorrect: 0,
    numAnswered: 0,
    totalTimeMs: 0,
    xpGained: 0,
  }));
  return {
    id: nextLobbyId(),
    code: "ABCDEF",
    realm: "default",
    settings: {
      category: null,
      selected_categories: [],
      difficulty: null,
      prompt: null,
      blend: false,
      review: false,
      timer: 30,
      num_questions: questions.length,
      visibility: "public",
      mode: "versus",
    },
    maxPlayers: 8,
    createdAt: at,
    startedAt: questions.length === 0 ? null : at,
    finishedAt: at,
    endReason: questions.length === 0 ? "host_left" : "completed",
    seats,
    questions: questions.map(({ id, category = "science", given }, index) => ({
      index,
      id,
      type: "multiple_choice",
      category,
      difficulty: "easy",
      question: "?",
      answers: ["a", "b", "c", "d"],
      correctIndex: 0,
      explanation: "a",
      startedAt: at,
      closedAt: at,
      closedBy: "all_answered",
      results: given.map(({ seat, isCorrect, points = 100, xp = 10 }) => ({
        seatId: seats[seat]?.id ?? 0,
        selectedIndex: isCorrect ? 0 : -1,
        isCorrect,
        pointsEarned: isCorrect ? points : 0,
        xpGained: isCorrect && accounts[seat] !== null ? xp : 0,
        timeTakenMs: 1_000,
        score: 0,
        streak: 0,
      })),
    })),
  };
}

/** Stores the sheet like the lobby does; returns the payload of its job. */
export async function storeSheet(sheet: ResultSheet) {
  const key = `planted:${sheet.id}`;
  await app.deps.redis.hset(key, "r", JSON.stringify(sheet));
  return { code: sheet.code, lobbyId: sheet.id, seq: 1, key };
}

export const run = async (sheet: ResultSheet) =>
  storeLobbyResult(await storeSheet(sheet), app.deps);

interface Stats {
  score: number;
  answers: number;
  correct: number;
  best: number;
  current: number;
  xp: number;
}

export async function statsOf(playerId: number): Promise<Stats | null> {
  const rows = await rowsOf(
    app.deps.em,
    sql<Stats>`select total_score::int as score, total_answers as answers, total_correct as correct,
        best_streak as best, current_streak as current, total_xp as xp
      from player_stats where player_id = ${playerId}`,
  );
  return rows[0] ?? null;
}

export async function categoriesOf(playerId: number): Promise<Record<string, Stats>> {
  const rows = await rowsOf(
    app.deps.em,
    sql<Stats & { category: string }>`select category, total_score::int as score,
        total_answers as answers, total_correct as correct, best_streak as best,
        current_streak as current, xp
      from player_category_stats where player_id = ${playerId}`,
  );
  return Object.fromEntries(rows.map(({ category, ...stats }) => [category, stats]));
}

export async function counted(sheet: ResultSheet) {
  const ids = JSON.stringify(sheet.questions.map((question) => question.id));
  const rows = await rowsOf(
    app.deps.em,
    sql<{ results: number; answers: number; recorded: number; served: number }>`select
        (select count(*)::int from lobby_results where lobby_id = ${sheet.id}) as results,
        (select count(*)::int from lobby_answers a join lobby_results r on r.id = a.lobby_result_id
          where r.lobby_id = ${sheet.id}) as answers,
        (select count(*)::int from question_answers where question_id in
          (select value::int from jsonb_array_elements_text(${ids}::jsonb))) as recorded,
        (select coalesce(sum(num_served), 0)::int from questions where id in
          (select value::int from jsonb_array_elements_text(${ids}::jsonb))) as served`,
  );
  return rows[0];
}

/** The service with questions of one category. */
export function startsResultsApp(): void {
  before(async () => {
    app = await startApp();
    const job = { category: "science", difficulty: "easy", pool: "both" as const };
    const rest = { prompt: null, model: null, count: 20, request: "r0" };
    assert.ok(
      await app.deps.enqueueAndWait(questionGeneration, { ...job, ...rest }, noOrigin, 20_000),
    );
    const rows = await rowsOf(
      app.deps.em,
      sql<{ id: number }>`select id from questions order by id`,
    );
    questionIds = rows.map((row) => row.id);
  });
  after(() => app.stop());
}
