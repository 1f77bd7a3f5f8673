import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { lockAvatar, type AvatarChoice } from "./avatars.ts";
import { rowsOf } from "./rows.ts";

export type UploadStatus = "storing" | "queued" | "approved" | "rejected";

/** What an operator's decision replaced; `choice` when it changed what the player is shown as. */
export interface UploadBefore {
  status: UploadStatus;
  rejectionReason: string | null;
  judgedBy: string | null;
  judgedAtMs: number | null;
  choice: AvatarChoice | null;
  /** Version of the player's selection after the decision. */
  v: number;
}

export interface UploadRow {
  id: number;
  playerId: number;
  status: UploadStatus;
  file: string | null;
  scores: Record<string, number> | null;
  rejectionReason: string | null;
  judgedBy: string | null;
  judgedAtMs: number | null;
  selectionV: number;
  undo: UploadBefore | null;
  createdAtMs: number;
}

export const uploadColumns = sql`u.id, u.player_id as "playerId", u.status, u.file, u.scores,
  u.rejection_reason as "rejectionReason", u.judged_by as "judgedBy",
  (extract(epoch from u.judged_at) * 1000)::float8 as "judgedAtMs",
  u.selection_v as "selectionV", u.undo,
  (extract(epoch from u.created_at) * 1000)::float8 as "createdAtMs"`;

export async function findUpload(em: EntityManager, id: number): Promise<UploadRow | null> {
  const rows = await rowsOf(
    em,
    sql<UploadRow>`select ${uploadColumns} from avatar_uploads u
      where u.id = ${id} and u.status <> 'storing'`,
  );
  return rows[0] ?? null;
}

/** The newest approved upload of a player whose picture is still kept. */
export async function findLatestApproved(
  em: EntityManager,
  playerId: number,
): Promise<number | null> {
  const rows = await rowsOf(
    em,
    sql<{ id: number }>`select id from avatar_uploads
      where player_id = ${playerId} and status = 'approved' and file is not null
      order by id desc limit 1`,
  );
  return rows[0]?.id ?? null;
}

/**
 * Notes an upload whose file is about to be stored under `file`; null when the account is closed.
 * To be called in a transaction: a change of the selection comes before it or after it (AV-06).
 */
export async function insertUpload(
  em: EntityManager,
  { playerId, file, now }: { playerId: number; file: string; now: Date },
): Promise<number | null> {
  const player = await lockAvatar(em, playerId);
  if (!player || player.isGuest) return null;
  const rows = await rowsOf(
    em,
    sql<{
      id: number;
    }>`insert into avatar_uploads (player_id, status, file, selection_v, created_at)
      values (${playerId}, 'storing', ${file}, ${player.v}, ${now}) returning id`,
  );
  return rows[0]?.id ?? null;
}

/** The file of an upload is stored: it may be judged. */
export async function queueUpload(em: EntityManager, id: number): Promise<void> {
  await rowsOf(
    em,
    sql`update avatar_uploads set status = 'queued' where id = ${id} and status = 'storing'`,
  );
}

/** Forgets an upload whose file could not be stored. */
export async function dropUpload(em: EntityManager, id: number): Promise<void> {
  await rowsOf(em, sql`delete from avatar_uploads where id = ${id} and status = 'storing'`);
}

/** An upload, locked after its player, until the transaction of `em` ends. */
export async function lockUpload(em: EntityManager, id: number): Promise<UploadRow | null> {
  const found = await findUpload(em, id);
  if (!found) return null;
  await rowsOf(em, sql`select id from players where id = ${found.playerId} for update`);
  const rows = await rowsOf(
    em,
    sql<UploadRow>`select ${uploadColumns} from avatar_uploads u where u.id = ${id} for update`,
  );
  return rows[0] ?? null;
}

/** True when no upload of the player is newer; one that is not stored may never be. */
export async function isNewestUpload(em: EntityManager, row: UploadRow): Promise<boolean> {
  const rows = await rowsOf(
    em,
    sql`select 1 from avatar_uploads
      where player_id = ${row.playerId} and id > ${row.id} and status <> 'storing' limit 1`,
  );
  return rows.length === 0;
}

/**
 * What was decided about an upload changed the version of the selection, which the player did not: to
 * newer uploads it is still the one they were sent at (AV-06).
 */
export async function carryVersion(
  em: EntityManager,
  { playerId, id }: UploadRow,
  { from, to }: { from: number; to: number },
): Promise<void> {
  await rowsOf(
    em,
    sql`update avatar_uploads set selection_v = ${to}
      where player_id = ${playerId} and id > ${id} and selection_v = ${from}`,
  );
}

export interface Judgement {
  status: UploadStatus;
  rejectionReason: string | null;
  judgedBy: string | null;
  judgedAt: Date | null;
  undo: UploadBefore | null;
}

export async function writeJudgement(
  em: EntityManager,
  id: number,
  { status, rejectionReason, judgedBy, judgedAt, undo }: Judgement,
): Promise<void> {
  await rowsOf(
    em,
    sql`update avatar_uploads set status = ${status}, rejection_reason = ${rejectionReason},
        judged_by = ${judgedBy}, judged_at = ${judgedAt},
        undo = ${undo === null ? null : JSON.stringify(undo)}::jsonb
      where id = ${id}`,
  );
}

/** Keeps what a moderator found out about a picture. */
export async function writeFindings(
  em: EntityManager,
  id: number,
  { hash, scores }: { hash: string | null; scores: Record<string, number> | null },
): Promise<void> {
  await rowsOf(
    em,
    sql`update avatar_uploads set hash = ${hash}::bit(64),
        scores = ${scores === null ? null : JSON.stringify(scores)}::jsonb
      where id = ${id}`,
  );
}

/**
 * The rejected upload that looks most like a picture of this hash, within so many bits. What was
 * itself rejected for its likeness does not count, or likeness would wander.
 */
export async function findRejectedLike(
  em: EntityManager,
  hash: string,
  distance: number,
): Promise<number | null> {
  const rows = await rowsOf(
    em,
    sql<{ id: number }>`select id from (
        select id, bit_count(hash # ${hash}::bit(64)) as bits from avatar_uploads
        where status = 'rejected' and hash is not null and judged_by <> 'similarity'
      ) near where bits <= ${distance} order by bits, id limit 1`,
  );
  return rows[0]?.id ?? null;
}
