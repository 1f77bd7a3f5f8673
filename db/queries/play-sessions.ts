import { sql } from "kysely";
import type { EntityManager } from "@mikro-orm/postgresql";
import { preparedRowsOf } from "../prepared.ts";
import { rowsOf } from "./rows.ts";

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

const millis = (name: string) => sql.raw(`(extract(epoch from s.${name}) * 1000)::float8`);
export const sessionColumns = sql`s.id, s.player_id as "playerId", s.total_points::float8 as "totalPoints",
  s.total_correct as "totalCorrect", s.total_answered as "totalAnswered",
  s.current_streak as "currentStreak", s.best_streak as "bestStreak",
  ${millis("created_at")} as "createdAtMs", ${millis("updated_at")} as "updatedAtMs",
  ${millis("ended_at")} as "endedAtMs"`;

export interface SessionTimes {
  playerId: number;
  now: Date;
  /** A session without an answer since then has ended with its last one (RUN-01). */
  idleSince: Date;
}

/**
 * The player's open session, locked until the transaction ends; a new one when there is none or the
 * last one was left idle. Null when there is no such player.
 */
export async function openSession(
  em: EntityManager,
  times: SessionTimes,
): Promise<SessionRow | null> {
  const [open] = await preparedRowsOf<SessionRow>(
    em,
    sql`select ${sessionColumns} from play_sessions s
      where s.player_id = ${times.playerId} and s.ended_at is null
        and s.updated_at >= ${times.idleSince}::timestamptz for update`,
  );
  if (open !== undefined) return open;
  await rowsOf(
    em,
    sql`update play_sessions set ended_at = updated_at
      where player_id = ${times.playerId} and ended_at is null
        and updated_at < ${times.idleSince}::timestamptz`,
  );
  const rows = await rowsOf(
    em,
    sql<SessionRow>`insert into play_sessions as s (player_id, created_at, updated_at)
      select id, ${times.now}::timestamptz, ${times.now}::timestamptz
      from players where id = ${times.playerId}
      on conflict (player_id) where ended_at is null do update set updated_at = s.updated_at
      returning ${sessionColumns}`,
  );
  return rows[0] ?? null;
}

/** The session that is still going on, or null. */
export async function findSession(
  em: EntityManager,
  { playerId, idleSince }: Omit<SessionTimes, "now">,
): Promise<SessionRow | null> {
  const rows = await rowsOf(
    em,
    sql<SessionRow>`select ${sessionColumns} from play_sessions s
      where s.player_id = ${playerId} and s.ended_at is null
        and s.updated_at >= ${idleSince}::timestamptz`,
  );
  return rows[0] ?? null;
}

/** Ends the player's open session: now, or with its last answer when it was left idle. */
export async function endSession(em: EntityManager, times: SessionTimes): Promise<void> {
  await rowsOf(
    em,
    sql`update play_sessions set ended_at = case
        when updated_at < ${times.idleSince}::timestamptz then updated_at
        else greatest(updated_at, ${times.now}::timestamptz) end
      where player_id = ${times.playerId} and ended_at is null`,
  );
}

/** Ends up to `limit` sessions left idle; sessions in use are passed over. Returns their number. */
export async function endIdleSessions(
  em: EntityManager,
  { idleSince, limit }: { idleSince: Date; limit: number },
): Promise<number> {
  const rows = await rowsOf(
    em,
    sql`update play_sessions set ended_at = updated_at
      where id in (select id from play_sessions
        where ended_at is null and updated_at < ${idleSince}::timestamptz
        order by updated_at limit ${limit} for update skip locked)
      returning id`,
  );
  return rows.length;
}
