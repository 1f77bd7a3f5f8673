import { numQuestionsOf } from "./questions.ts";
import type { AnswerResult, ClosedBy, EndReason, Lobby, Seat, Settings } from "./types.ts";

export interface SheetSeat {
  id: number;
  name: string;
  isHost: boolean;
  accountId: number | null;
  joinedAt: number;
  /** True if the seat left or was removed before the end. */
  hasLeft: boolean;
  score: number;
  bestStreak: number;
  numCorrect: number;
  numAnswered: number;
  totalTimeMs: number;
  xpGained: number;
}

export interface SheetQuestion {
  index: number;
  /** Catalog form (document 2, Question). */
  id: number;
  type: "multiple_choice";
  category: string;
  difficulty: string;
  question: string;
  answers: string[];
  correctIndex: number;
  explanation: string;
  /** Commitment to the answer and its proof; absent in a lobby of an earlier version. */
  answerHash?: string | null;
  answerSalt?: string | null;
  startedAt: number;
  closedAt: number;
  closedBy: ClosedBy;
  results: AnswerResult[];
}

/** The complete course of a game, for the database and the players; times in ms since the epoch (LOB-27). */
export interface ResultSheet {
  id: number;
  code: string;
  realm: string;
  settings: Settings;
  /** Questions of the game as in the lobby; absent in a sheet of an earlier version. */
  numQuestions?: number | null;
  maxPlayers: number;
  createdAt: number;
  startedAt: number | null;
  finishedAt: number | null;
  endReason: EndReason | null;
  seats: SheetSeat[];
  questions: SheetQuestion[];
}

export function resultSheet(lobby: Lobby): ResultSheet {
  const { id, code, realm, settings, maxPlayers, createdAt, startedAt, finishedAt } = lobby;
  return {
    id,
    code,
    realm,
    settings,
    numQuestions: numQuestionsOf(lobby),
    maxPlayers,
    createdAt,
    startedAt,
    finishedAt,
    endReason: lobby.endReason,
    seats: [
      ...lobby.seats.map((seat) => sheetSeat(lobby, seat, false)),
      ...lobby.formerSeats.map((seat) => sheetSeat(lobby, seat, true)),
    ],
    questions: sheetQuestions(lobby),
  };
}

function sheetSeat(lobby: Lobby, seat: Seat, hasLeft: boolean): SheetSeat {
  const own = lobby.played.flatMap((played) =>
    played.results.filter((result) => result.seatId === seat.id),
  );
  return {
    id: seat.id,
    name: seat.name,
    isHost: seat.isHost,
    accountId: seat.accountId,
    joinedAt: seat.joinedAt,
    hasLeft,
    score: seat.score,
    bestStreak: seat.bestStreak,
    numCorrect: seat.numCorrect,
    numAnswered: own.filter((result) => result.selectedIndex >= 0).length,
    totalTimeMs: own.reduce((sum, result) => sum + result.timeTakenMs, 0),
    xpGained: own.reduce((sum, result) => sum + result.xpGained, 0),
  };
}

function sheetQuestions(lobby: Lobby): SheetQuestion[] {
  return lobby.played.flatMap((played) => {
    const question = lobby.questions[played.index];
    if (!question) return [];
    return {
      index: played.index,
      id: question.id,
      type: "multiple_choice" as const,
      category: question.category,
      difficulty: question.difficulty,
      question: question.text,
      answers: question.choices,
      correctIndex: question.correctIndex,
      explanation: question.explanation,
      answerHash: question.answerHash ?? null,
      answerSalt: question.answerSalt ?? null,
      startedAt: played.startedAt,
      closedAt: played.closedAt,
      closedBy: played.closedBy,
      results: played.results,
    };
  });
}
