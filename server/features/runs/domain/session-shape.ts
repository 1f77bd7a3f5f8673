import Type, { type Static } from "typebox";
import type { SessionRow } from "../../../../db/queries/runs/play-sessions.ts";
import { timestamp } from "../../../platform/time/clock.ts";
import { nextMultiplier } from "./score.ts";
import { Timestamp } from "../../../platform/schemas.ts";

/** Wire shape of a play session, for two features (document 2, Play session). */
export const PlaySession = Type.Object(
  {
    id: Type.Integer(),
    player_id: Type.Integer(),
    total_points: Type.Integer(),
    total_correct: Type.Integer(),
    total_answered: Type.Integer(),
    current_streak: Type.Integer(),
    best_streak: Type.Integer(),
    current_multiplier: Type.Integer({ description: "of the next right answer (SCO-03)" }),
    created_at: Timestamp,
    updated_at: Timestamp,
    ended_at: Type.Union([Timestamp, Type.Null()]),
  },
  { title: "PlaySession" },
);

export function presentSession(session: SessionRow): Static<typeof PlaySession> {
  return {
    id: session.id,
    player_id: session.playerId,
    total_points: session.totalPoints,
    total_correct: session.totalCorrect,
    total_answered: session.totalAnswered,
    current_streak: session.currentStreak,
    best_streak: session.bestStreak,
    current_multiplier: nextMultiplier(session.currentStreak),
    created_at: timestamp(session.createdAtMs),
    updated_at: timestamp(session.updatedAtMs),
    ended_at: session.endedAtMs === null ? null : timestamp(session.endedAtMs),
  };
}
