import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";
import { LobbyResultSchema } from "./lobby-result.ts";

/** One answer of one seat in a finished lobby (LOB-27). */
export const LobbyAnswerSchema = defineEntity({
  name: "LobbyAnswer",
  tableName: "lobby_answers",
  uniques: [
    {
      name: "lobby_answers_seat_unique",
      properties: ["lobbyResult", "questionIndex", "seatId"],
    },
  ],
  properties: {
    id: p.integer().primary(),
    lobbyResult: () => p.manyToOne(LobbyResultSchema).ref(),
    questionIndex: p.integer(),
    seatId: p.integer(),
    /** Id in `players`; null for an anonymous seat. */
    playerId: p.integer().nullable().index("lobby_answers_player_index"),
    questionId: p.integer().index("lobby_answers_question_index"),
    /** 0-3, or -1 for a timeout. */
    selectedIndex: p.smallint(),
    isCorrect: p.boolean(),
    pointsEarned: p.integer(),
    /** Time used for points (SCO-04). */
    timeTakenMs: p.integer(),
  },
});

export type LobbyAnswer = InferEntity<typeof LobbyAnswerSchema>;
