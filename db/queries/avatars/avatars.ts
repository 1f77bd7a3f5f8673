import type { EntityManager } from "@mikro-orm/postgresql";
import { sql } from "kysely";
import { millis } from "../expressions.ts";
import { changeRows, findRow, rowsOf, type Builder } from "../rows.ts";

/** A player's avatar selection; icon, color and bg form the claimed combination (AV-02). */
export interface AvatarChoice {
  source: string | null;
  icon: string | null;
  color: string | null;
  bg: string | null;
  border: string | null;
  uploadId: number | null;
}

/** The generated picture, which claims nothing. */
export const nothingChosen: AvatarChoice = {
  source: null,
  icon: null,
  color: null,
  bg: null,
  border: null,
  uploadId: null,
};

export interface AvatarRow extends AvatarChoice {
  /** Increases with every change of the selection (AV-09). */
  v: number;
  /** When the selection last changed; the player's creation time if it never did. */
  updatedAtMs: number;
  isGuest: boolean;
}

const columns = [
  "avatar_source as source",
  "avatar_icon as icon",
  "avatar_color as color",
  "avatar_bg as bg",
  "avatar_border as border",
  "avatar_upload_id as uploadId",
  "avatar_v as v",
  "is_guest as isGuest",
  millis(sql`coalesce(avatar_updated_at, created_at)`).as("updatedAtMs"),
] as const;

const choiceOf = (db: Builder, playerId: number) =>
  db
    .selectFrom("players")
    .select(columns)
    .where("id", "=", playerId)
    .where("deleted_at", "is", null);

/** The avatar selection of an open player. */
export const readAvatar = (em: EntityManager, playerId: number): Promise<AvatarRow | null> =>
  findRow(em, (db) => choiceOf(db, playerId));

/** Like `readAvatar`, but locked until the transaction of `em` ends. */
export const lockAvatar = (em: EntityManager, playerId: number): Promise<AvatarRow | null> =>
  findRow(em, (db) => choiceOf(db, playerId).forUpdate());

const update = (db: Builder, playerId: number, choice: AvatarChoice, now: Date) =>
  db
    .updateTable("players")
    .set((eb) => ({
      avatar_source: choice.source,
      avatar_icon: choice.icon,
      avatar_color: choice.color,
      avatar_bg: choice.bg,
      avatar_border: choice.border,
      avatar_upload_id: choice.uploadId,
      avatar_v: eb("avatar_v", "+", 1),
      avatar_updated_at: now,
    }))
    .where("id", "=", playerId);

/**
 * Stores a selection. A combination claimed by another player violates
 * `players_avatar_claim_unique`.
 */
export function writeAvatar(
  em: EntityManager,
  playerId: number,
  { choice, now }: { choice: AvatarChoice; now: Date },
): Promise<AvatarRow | null> {
  return findRow(em, (db) => update(db, playerId, choice, now).returning(columns));
}

/** The cache-buster of a player's avatar; 0 before the first change. */
export async function readAvatarVersion(em: EntityManager, playerId: number): Promise<number> {
  const row = await findRow(em, (db) =>
    db.selectFrom("players").select("avatar_v").where("id", "=", playerId),
  );
  return row?.avatar_v ?? 0;
}

/**
 * Everything needed to render a player's avatar: `file` of an approved upload, and the picture's
 * address at the chosen provider.
 */
export interface ShownAvatar extends AvatarChoice {
  file: string | null;
  providerUrl: string | null;
}

/**
 * A player's shown avatar, or null if there is no such player; the selection of a closed account is
 * not shown.
 */
export function readShownAvatar(em: EntityManager, playerId: number): Promise<ShownAvatar | null> {
  return findRow(em, (db) =>
    db
      .selectFrom("players as p")
      .leftJoin("avatar_uploads as u", (join) =>
        join.onRef("u.id", "=", "p.avatar_upload_id").on("u.status", "=", "approved"),
      )
      .leftJoin("oauth_connections as c", (join) =>
        join.onRef("c.player_id", "=", "p.id").onRef("c.provider", "=", "p.avatar_source"),
      )
      .select((eb) => [
        eb
          .case()
          .when("p.deleted_at", "is", null)
          .then(eb.ref("p.avatar_source"))
          .end()
          .as("source"),
        "p.avatar_icon as icon",
        "p.avatar_color as color",
        "p.avatar_bg as bg",
        "p.avatar_border as border",
        "p.avatar_upload_id as uploadId",
        "u.file",
        "c.avatar_url as providerUrl",
      ])
      .where("p.id", "=", playerId),
  );
}

/** Whether no other player holds the combination. */
export async function isClaimFree(
  em: EntityManager,
  playerId: number,
  { icon, color, bg }: Pick<AvatarChoice, "icon" | "color" | "bg">,
): Promise<boolean> {
  const holder = await findRow(em, (db) =>
    db
      .selectFrom("players")
      .select("id")
      .where("avatar_icon", "=", icon)
      .where("avatar_color", "=", color)
      .where("avatar_bg", "=", bg)
      .where("id", "<>", playerId)
      .limit(1),
  );
  return holder === null;
}

/**
 * Every icon in some claimed combination. Takes one index step per icon, however many players there
 * are.
 */
export async function listTakenIcons(em: EntityManager): Promise<string[]> {
  // Raw SQL: a recursion that steps through an index.
  const rows = await rowsOf(
    em,
    sql<{ icon: string }>`with recursive taken as (
        (select avatar_icon as icon from players where avatar_icon is not null
          order by avatar_icon limit 1)
        union all
        select (select avatar_icon from players where avatar_icon > taken.icon
          order by avatar_icon limit 1)
        from taken where taken.icon is not null
      )
      select icon from taken where icon is not null`,
  );
  return rows.map(({ icon }) => icon);
}

/** An icon that only this player holds, in any combination. */
export async function findSoleIcon(em: EntityManager, playerId: number): Promise<string | null> {
  const row = await findRow(em, (db) =>
    db
      .selectFrom("players as p")
      .select("p.avatar_icon as icon")
      .where("p.id", "=", playerId)
      .where("p.avatar_icon", "is not", null)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom("players as o")
              .select("o.id")
              .whereRef("o.avatar_icon", "=", "p.avatar_icon")
              .whereRef("o.id", "<>", "p.id"),
          ),
        ),
      ),
  );
  return row?.icon ?? null;
}

/** Resets the avatar to the generated picture if `source` is shown now, and releases the claim. */
export async function resetAvatar(
  em: EntityManager,
  playerId: number,
  { source, now }: { source: string; now: Date },
): Promise<void> {
  await changeRows(em, (db) =>
    update(db, playerId, nothingChosen, now).where("avatar_source", "=", source),
  );
}
