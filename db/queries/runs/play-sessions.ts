import { sql } from "kysely";
import type { EntityManager } from "@mikro-orm/postgresql";
import { prepared } from "../../prepared.ts";
import { columnsText, millis, nullableMillis } from "../expressions.ts";
import { changeRows, findRow, rowsOf } from "../rows.ts";

export interface SessionRow {
  id: number;
  playerId: number;
  totalPoints: number;
  totalCorrect: number;
  totalAnswered: number;
  currentStreak: number;
  bestStreak: number;
  createdAtMs: number;
  /** Time of the last answer. */
  updatedAtMs: number;
  endedAtMs: number | null;
}

export const sessionColumns = [
  "s.id",
  "s.player_id as playerId",
  "s.total_points as totalPoints",
  "s.total_correct as totalCorrect",
  "s.total_answered as totalAnswered",
  "s.current_streak as currentStreak",
  "s.best_streak as bestStreak",
  millis("s.created_at").as("createdAtMs"),
  millis("s.updated_at").as("updatedAtMs"),
  nullableMillis("s.ended_at").as("endedAtMs"),
] as const;

const lockOpenSession = prepared(
  (db, { playerId, idleSince }: { playerId: number; idleSince: Date }) =>
    db
      .selectFrom("play_sessions as s")
      .select(sessionColumns)
      .where("s.player_id", "=", playerId)
      .where("s.ended_at", "is", null)
      .where("s.updated_at", ">=", idleSince)
      .forUpdate(),
);

export interface SessionTimes {
  playerId: number;
  now: Date;
  /** A session without an answer since then ended at its last answer (RUN-01). */
  idleSince: Date;
}

/**
 * The player's open session, locked until the transaction ends. Creates one if there is none or the last
 * one is idle. Null if there is no such player.
 */
export async function openSession(
  em: EntityManager,
  times: SessionTimes,
): Promise<SessionRow | null> {
  const { playerId, now, idleSince } = times;
  const [open] = await lockOpenSession(em, { playerId, idleSince });
  if (open !== undefined) return open;
  await changeRows(em, (db) =>
    db
      .updateTable("play_sessions")
      .set((eb) => ({ ended_at: eb.ref("updated_at") }))
      .where("player_id", "=", playerId)
      .where("ended_at", "is", null)
      .where("updated_at", "<", idleSince),
  );
  // Raw SQL: a conflict on a partial index.
  const rows = await rowsOf(
    em,
    sql<SessionRow>`insert into play_sessions as s (player_id, created_at, updated_at)
      select id, ${now}::timestamptz, ${now}::timestamptz
      from players where id = ${playerId}
      on conflict (player_id) where ended_at is null do update set updated_at = s.updated_at
      returning ${columnsText(sessionColumns)}`,
  );
  return rows[0] ?? null;
}

/** The open session, or null. */
export function findSession(
  em: EntityManager,
  { playerId, idleSince }: Omit<SessionTimes, "now">,
): Promise<SessionRow | null> {
  return findRow(em, (db) =>
    db
      .selectFrom("play_sessions as s")
      .select(sessionColumns)
      .where("s.player_id", "=", playerId)
      .where("s.ended_at", "is", null)
      .where("s.updated_at", ">=", idleSince),
  );
}

/** Ends the player's open session: now, or at its last answer if it is idle. */
export async function endSession(em: EntityManager, times: SessionTimes): Promise<void> {
  await changeRows(em, (db) =>
    db
      .updateTable("play_sessions")
      .set({
        ended_at: sql<Date>`case when updated_at < ${times.idleSince}::timestamptz then updated_at
          else greatest(updated_at, ${times.now}::timestamptz) end`,
      })
      .where("player_id", "=", times.playerId)
      .where("ended_at", "is", null),
  );
}

/** Ends up to `limit` idle sessions, skipping locked ones. Returns their number. */
export function endIdleSessions(
  em: EntityManager,
  { idleSince, limit }: { idleSince: Date; limit: number },
): Promise<number> {
  return changeRows(em, (db) =>
    db
      .updateTable("play_sessions")
      .set((eb) => ({ ended_at: eb.ref("updated_at") }))
      .where("id", "in", (eb) =>
        eb
          .selectFrom("play_sessions")
          .select("id")
          .where("ended_at", "is", null)
          .where("updated_at", "<", idleSince)
          .orderBy("updated_at")
          .limit(limit)
          .forUpdate()
          .skipLocked(),
      ),
  );
}
