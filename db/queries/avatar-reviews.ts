import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { lockUpload, uploadColumns, type UploadRow, type UploadStatus } from "./avatar-uploads.ts";
import { lockAvatar } from "./avatars.ts";
import { rowsOf } from "./rows.ts";

export type ReviewStatus = "queued" | "approved" | "rejected";

/** An upload with what a reviewer wants to know of its player. */
export interface ListedUpload extends UploadRow {
  playerName: string;
  /** The player's avatar now. */
  isShown: boolean;
}

const listed = sql`select ${uploadColumns}, p.name as "playerName",
    coalesce(p.avatar_source = 'upload' and p.avatar_upload_id = u.id, false) as "isShown"
  from avatar_uploads u join players p on p.id = u.player_id`;

/** What waits for a person, as long as there is a picture. */
const waiting = sql`u.status = 'queued' and u.file is not null`;

/** How many uploads wait for a person; `most` when there are more. */
export async function countWaiting(em: EntityManager, most: number): Promise<number> {
  const [row] = await rowsOf(
    em,
    sql<{ count: number }>`select count(*)::int as count from (
      select 1 from avatar_uploads u where ${waiting} limit ${most}) first`,
  );
  return row?.count ?? 0;
}

/** A page of uploads: those that wait oldest first; others newest first. */
export function listForReview(
  em: EntityManager,
  { status, limit, cursor }: { status: ReviewStatus; limit: number; cursor: number | null },
): Promise<ListedUpload[]> {
  if (status === "queued")
    return rowsOf(
      em,
      sql<ListedUpload>`${listed} where ${waiting} and u.id > ${cursor ?? 0}
        order by u.id limit ${limit}`,
    );
  const before = cursor === null ? sql`true` : sql`u.id < ${cursor}`;
  return rowsOf(
    em,
    sql<ListedUpload>`${listed} where u.status = ${status} and ${before}
      order by u.id desc limit ${limit}`,
  );
}

export async function findForReview(em: EntityManager, id: number): Promise<ListedUpload | null> {
  const rows = await rowsOf(
    em,
    sql<ListedUpload>`${listed} where u.id = ${id} and u.status <> 'storing'`,
  );
  return rows[0] ?? null;
}

/** Uploads whose job was lost: nobody judged them for long. */
export async function listUnjudged(
  em: EntityManager,
  { since, before, limit }: { since: Date; before: Date; limit: number },
): Promise<number[]> {
  const rows = await rowsOf(
    em,
    sql<{ id: number }>`select id from avatar_uploads
      where status = 'queued' and judged_at is null and file is not null
        and created_at < ${before} and created_at > ${since}
      order by id limit ${limit}`,
  );
  return rows.map(({ id }) => id);
}

export interface SpentPicture {
  id: number;
  file: string;
  status: UploadStatus;
  judgedAtMs: number | null;
}

/** Players from the one behind `after` to `upTo`. */
export interface PlayerSlice {
  after: number;
  upTo: number;
}

/** The last player of a slice that has about `size` uploads; null when fewer are left. */
export async function endOfSlice(
  em: EntityManager,
  { after, size }: { after: number; size: number },
): Promise<number | null> {
  const rows = await rowsOf(
    em,
    sql<{ id: number }>`select player_id as id from avatar_uploads where player_id > ${after}
      order by player_id offset ${size - 1} limit 1`,
  );
  return rows[0]?.id ?? null;
}

/**
 * Pictures nobody needs any more: of accounts that were cleared, of uploads whose storing was cut off,
 * of old rejections, and all but the newest of each player, the approved and the shown one excepted.
 */
export function listSpentPictures(
  em: EntityManager,
  { after, upTo }: PlayerSlice,
  limits: { unfinishedBefore: Date; rejectedBefore: Date; keptEach: number; limit: number },
): Promise<SpentPicture[]> {
  const { unfinishedBefore, rejectedBefore, keptEach, limit } = limits;
  // Of both tables: of one alone, Postgres would read the other one whole.
  const inSlice = sql`u.player_id > ${after} and u.player_id <= ${upTo}
    and p.id > ${after} and p.id <= ${upTo}`;
  return rowsOf(
    em,
    sql<SpentPicture>`select id, file, status,
        (extract(epoch from judged_at) * 1000)::float8 as "judgedAtMs" from (
        select u.*, p.purged_at, p.avatar_upload_id,
          row_number() over (partition by u.player_id order by u.id desc) as place,
          max(u.id) filter (where u.status = 'approved') over (partition by u.player_id) as latest
        from avatar_uploads u join players p on p.id = u.player_id
        where u.file is not null and ${inSlice}
      ) kept
      where purged_at is not null
        or (status = 'storing' and created_at < ${unfinishedBefore})
        or (status <> 'storing' and id is distinct from avatar_upload_id
          and id is distinct from latest
          and (place > ${keptEach} or (status = 'rejected' and judged_at < ${rejectedBefore})))
      order by id limit ${limit}`,
  );
}

/** True while a picture is as spent as it was found, and until the transaction of `em` ends it stays so. */
export async function lockSpentPicture(em: EntityManager, picture: SpentPicture): Promise<boolean> {
  if (picture.status === "storing") return true;
  const now = await lockUpload(em, picture.id);
  const isSame = now?.status === picture.status && now.judgedAtMs === picture.judgedAtMs;
  return isSame && (await lockAvatar(em, now.playerId))?.uploadId !== picture.id;
}

/** The file of an upload was removed. An upload that never had one is forgotten. */
export async function forgetPicture(em: EntityManager, { id, file }: SpentPicture): Promise<void> {
  await rowsOf(em, sql`delete from avatar_uploads where id = ${id} and status = 'storing'`);
  await rowsOf(em, sql`update avatar_uploads set file = null where id = ${id} and file = ${file}`);
}
