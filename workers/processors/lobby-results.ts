import type { EntityManager } from "@mikro-orm/postgresql";
import { UnrecoverableError } from "bullmq";
import { insertLobbyAnswers, insertLobbyResult } from "../../db/queries/lobbies/lobby-results.ts";
import { knownAnswers, lockStats } from "../../db/queries/progress/player-stats.ts";
import {
  recordServed,
  saveRecorded,
  type NewAnswer,
} from "../../db/queries/questions/question-answers.ts";
import type { WithClock, WithEm, WithRedis } from "../../server/platform/capabilities.ts";
import {
  addAnswer,
  earned,
  noTotals,
  type GivenAnswer,
} from "../../server/features/progress/domain/totals.ts";
import { awardWhenDue } from "../../server/features/wallet/domain/awards.ts";
import type { lobbyResults, PayloadOf } from "../queues.ts";

/**
 * The fields this job reads of a result sheet (actors/lobby/result-sheet.ts); times in ms since the epoch.
 */
interface Sheet {
  id: number;
  code: string;
  realm: string;
  settings: { mode: "coop" | "versus" };
  startedAt: number | null;
  finishedAt: number | null;
  endReason: string | null;
  seats: {
    id: number;
    isHost: boolean;
    accountId: number | null;
    score: number;
    numAnswered: number;
  }[];
  questions: {
    index: number;
    id: number;
    category: string;
    results: {
      seatId: number;
      selectedIndex: number;
      isCorrect: boolean;
      pointsEarned: number;
      xpGained: number;
      /** XP of a first answer, if the player was shown less. */
      xpWhole?: number;
      timeTakenMs: number;
    }[];
  }[];
}

interface PlayerAnswer {
  playerId: number;
  questionId: number;
  category: string;
  selectedIndex: number;
  given: GivenAnswer;
}

/** Stores a finished lobby, its answers and the players' rewards; a repeated run changes nothing (S38). */
export async function storeLobbyResult(
  payload: PayloadOf<typeof lobbyResults>,
  deps: WithEm & WithClock & WithRedis,
): Promise<void> {
  const text = await deps.redis.hget(payload.key, "r");
  if (text === null) throw new UnrecoverableError(`no result sheet of lobby ${payload.code}`);
  const sheet = JSON.parse(text) as Sheet;
  await deps.em.transactional((em) =>
    store(em, sheet, new Date(sheet.finishedAt ?? deps.clock.now())),
  );
}

async function store(em: EntityManager, sheet: Sheet, finishedAt: Date): Promise<void> {
  const resultId = await insertLobbyResult(em, {
    lobbyId: sheet.id,
    code: sheet.code,
    realm: sheet.realm,
    hostPlayerId: sheet.seats.find((seat) => seat.isHost)?.accountId ?? null,
    mode: sheet.settings.mode,
    settings: sheet.settings,
    startedAt: sheet.startedAt === null ? null : new Date(sheet.startedAt),
    finishedAt,
    endReason: sheet.endReason ?? "completed",
    sheet,
  });
  if (resultId === null) return;
  const players = new Map(sheet.seats.map((seat) => [seat.id, seat.accountId]));
  await insertLobbyAnswers(
    em,
    resultId,
    sheet.questions.flatMap((question) =>
      question.results.map((result) => ({
        ...result,
        questionIndex: question.index,
        questionId: question.id,
        playerId: players.get(result.seatId) ?? null,
      })),
    ),
  );
  await credit(em, sheet, players, finishedAt);
  await rewardWinners(em, sheet, finishedAt);
  // After the totals, as everywhere: a fixed lock order avoids deadlocks.
  await recordServed(
    em,
    sheet.questions.map((question) => ({
      questionId: question.id,
      served: question.results.length,
      correct: question.results.filter((result) => result.isCorrect).length,
    })),
  );
}

async function credit(
  em: EntityManager,
  sheet: Sheet,
  players: Map<number, number | null>,
  at: Date,
): Promise<void> {
  const playerIds = [...new Set([...players.values()].filter((id) => id !== null))];
  const stats = new Map(
    (await lockStats(em, playerIds)).map((row) => [keyOf(row.playerId, row.category), row]),
  );
  const answers = await playerAnswers(em, sheet, players, playerIds);
  for (const { playerId, category, given } of answers)
    for (const place of [null, category]) {
      const row = stats.get(keyOf(playerId, place));
      stats.set(keyOf(playerId, place), {
        playerId,
        category: place,
        ...addAnswer(row ?? noTotals, given),
      });
    }
  await saveRecorded(em, {
    answers: answers.map((answer) => toNewAnswer(answer, at)),
    totals: [...stats.values()],
    at,
  });
}

/**
 * The winners of a versus game with at least two answering players; each player's first win is rewarded
 * once (WAL-03).
 */
async function rewardWinners(em: EntityManager, sheet: Sheet, at: Date): Promise<void> {
  if (sheet.settings.mode !== "versus" || sheet.endReason !== "completed") return;
  const played = sheet.seats.filter((seat) => seat.numAnswered > 0);
  const best = Math.max(1, ...played.map((seat) => seat.score));
  if (played.length < 2) return;
  const winners = played.flatMap(({ score, accountId }) =>
    score === best && accountId !== null ? [accountId] : [],
  );
  // In a fixed order, so that two lobbies with the same winners do not deadlock.
  for (const playerId of [...new Set(winners)].sort((a, b) => a - b)) {
    const award = { awardId: "id.award.first_win", game: "trivia" };
    await awardWhenDue(em, { ...award, playerId, now: at.getTime() });
  }
}

async function playerAnswers(
  em: EntityManager,
  sheet: Sheet,
  players: Map<number, number | null>,
  playerIds: number[],
): Promise<PlayerAnswer[]> {
  const known = await knownAnswers(
    em,
    playerIds,
    sheet.questions.map((question) => question.id),
  );
  const earlier = new Map(known.map((row) => [keyOf(row.playerId, row.questionId), row]));
  return sheet.questions.flatMap((question) =>
    question.results.flatMap((result) => {
      const playerId = players.get(result.seatId) ?? null;
      if (playerId === null) return [];
      const before = earlier.get(keyOf(playerId, question.id));
      const given: GivenAnswer = {
        isCorrect: result.isCorrect,
        points: result.pointsEarned,
        // The lobby knew only answers from before its draw; this job also knows the later ones.
        xp: result.xpWhole ?? result.xpGained,
        previous: before === undefined ? null : before.isCorrect ? "right" : "wrong",
        isCorrected: before?.isCorrected ?? false,
      };
      return [
        {
          playerId,
          questionId: question.id,
          category: question.category,
          selectedIndex: result.selectedIndex,
          given,
        },
      ];
    }),
  );
}

function toNewAnswer(answer: PlayerAnswer, at: Date): NewAnswer {
  const { playerId, questionId, selectedIndex, given } = answer;
  return {
    playerId,
    questionId,
    selectedIndex,
    isCorrect: given.isCorrect,
    ...earned(given),
    source: "lobby",
    ref: null,
    at,
  };
}

const keyOf = (playerId: number, place: number | string | null) => `${playerId}/${place ?? ""}`;
