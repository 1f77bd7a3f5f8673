import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { nullableMillis } from "../expressions.ts";
import { lockUpload, uploadColumns, type UploadRow, type UploadStatus } from "./avatar-uploads.ts";
import { lockAvatar } from "./avatars.ts";
import { changeRows, findRow, findRows, rowsOf, type Builder } from "../rows.ts";

export type ReviewStatus = "queued" | "approved" | "rejected";

/** An upload with what a reviewer needs to know about its player. */
export interface ListedUpload extends UploadRow {
  playerName: string;
  /** True if it is the player's current avatar. */
  isShown: boolean;
}

const listed = (db: Builder) =>
  db
    .selectFrom("avatar_uploads as u")
    .innerJoin("players as p", "p.id", "u.player_id")
    .select(uploadColumns)
    .select([
      "p.name as playerName",
      sql<boolean>`coalesce(p.avatar_source = 'upload' and p.avatar_upload_id = u.id, false)`.as(
        "isShown",
      ),
    ]);

/** Uploads waiting for a human decision whose picture still exists. */
const waiting = sql<boolean>`u.status = 'queued' and u.file is not null`;

/** Number of uploads waiting for a human decision, counted up to `most`. */
export async function countWaiting(em: EntityManager, most: number): Promise<number> {
  const row = await findRow(em, (db) =>
    db
      .selectFrom((of) =>
        of.selectFrom("avatar_uploads as u").select("u.id").where(waiting).limit(most).as("first"),
      )
      .select((eb) => eb.fn.countAll<number>().as("count")),
  );
  return row?.count ?? 0;
}

/** A page of uploads: waiting ones oldest first, others newest first. */
export function listForReview(
  em: EntityManager,
  { status, limit, cursor }: { status: ReviewStatus; limit: number; cursor: number | null },
): Promise<ListedUpload[]> {
  return findRows(em, (db) => {
    const some = listed(db).limit(limit);
    if (status === "queued")
      return some
        .where(waiting)
        .where("u.id", ">", cursor ?? 0)
        .orderBy("u.id");
    const newest = some.where("u.status", "=", status).orderBy("u.id", "desc");
    return cursor === null ? newest : newest.where("u.id", "<", cursor);
  });
}

/** A page of the uploads of a player, newest first. */
export function listOfPlayer(
  em: EntityManager,
  playerId: number,
  { limit, cursor }: { limit: number; cursor: number | null },
): Promise<ListedUpload[]> {
  return findRows(em, (db) => {
    const own = listed(db)
      .where("u.player_id", "=", playerId)
      .where("u.status", "<>", "storing")
      .orderBy("u.id", "desc")
      .limit(limit);
    return cursor === null ? own : own.where("u.id", "<", cursor);
  });
}

export function findForReview(em: EntityManager, id: number): Promise<ListedUpload | null> {
  return findRow(em, (db) => listed(db).where("u.id", "=", id).where("u.status", "<>", "storing"));
}

/** Uploads that have had no decision for a long time because their job was lost. */
export async function listPendingReview(
  em: EntityManager,
  { since, before, limit }: { since: Date; before: Date; limit: number },
): Promise<number[]> {
  const rows = await findRows(em, (db) =>
    db
      .selectFrom("avatar_uploads")
      .select("id")
      .where("status", "=", sql.lit("queued"))
      .where("judged_at", "is", null)
      .where("file", "is not", null)
      .where("created_at", "<", before)
      .where("created_at", ">", since)
      .orderBy("id")
      .limit(limit),
  );
  return rows.map(({ id }) => id);
}

export interface UnusedPicture {
  id: number;
  file: string;
  status: UploadStatus;
  judgedAtMs: number | null;
}

/** Players with ids in (`after`, `upTo`]. */
export interface PlayerRange {
  after: number;
  upTo: number;
}

/** Last player of a batch of about `size` uploads; null if fewer are left. */
export async function endOfBatch(
  em: EntityManager,
  { after, size }: { after: number; size: number },
): Promise<number | null> {
  const row = await findRow(em, (db) =>
    db
      .selectFrom("avatar_uploads")
      .select("player_id")
      .where("player_id", ">", after)
      .orderBy("player_id")
      .offset(size - 1)
      .limit(1),
  );
  return row?.player_id ?? null;
}

/**
 * Pictures that are no longer needed: those of cleared accounts, of interrupted uploads and of old
 * rejections, and all but each player's newest, approved and shown ones.
 */
export function listUnusedPictures(
  em: EntityManager,
  { after, upTo }: PlayerRange,
  limits: { unfinishedBefore: Date; rejectedBefore: Date; keptEach: number; limit: number },
): Promise<UnusedPicture[]> {
  const { unfinishedBefore, rejectedBefore, keptEach, limit } = limits;
  // The condition is on both tables: with only one, Postgres would read the other one completely.
  const inBatch = sql`u.player_id > ${after} and u.player_id <= ${upTo}
    and p.id > ${after} and p.id <= ${upTo}`;
  // Raw SQL: window functions with filters.
  return rowsOf(
    em,
    sql<UnusedPicture>`select id, file, status,
        ${nullableMillis("judged_at")} as "judgedAtMs" from (
        select u.*, p.purged_at, p.avatar_upload_id,
          row_number() over (partition by u.player_id order by u.id desc) as place,
          max(u.id) filter (where u.status = 'approved') over (partition by u.player_id) as latest
        from avatar_uploads u join players p on p.id = u.player_id
        where u.file is not null and ${inBatch}
      ) kept
      where purged_at is not null
        or (status = 'storing' and created_at < ${unfinishedBefore})
        or (status <> 'storing' and id is distinct from avatar_upload_id
          and id is distinct from latest
          and (place > ${keptEach} or (status = 'rejected' and judged_at < ${rejectedBefore})))
      order by id limit ${limit}`,
  );
}

/** True if the picture is still unused; the lock keeps it so until the transaction of `em` ends. */
export async function lockUnusedPicture(
  em: EntityManager,
  picture: UnusedPicture,
): Promise<boolean> {
  if (picture.status === "storing") return true;
  const now = await lockUpload(em, picture.id);
  const isSame = now?.status === picture.status && now.judgedAtMs === picture.judgedAtMs;
  return isSame && (await lockAvatar(em, now.playerId))?.uploadId !== picture.id;
}

/** Records that the file of an upload was removed. An upload that never had a file is deleted. */
export async function clearPicture(em: EntityManager, { id, file }: UnusedPicture): Promise<void> {
  await changeRows(em, (db) =>
    db.deleteFrom("avatar_uploads").where("id", "=", id).where("status", "=", "storing"),
  );
  await changeRows(em, (db) =>
    db
      .updateTable("avatar_uploads")
      .set({ file: null })
      .where("id", "=", id)
      .where("file", "=", file),
  );
}
