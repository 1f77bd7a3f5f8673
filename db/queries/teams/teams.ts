import { sql } from "kysely";
import type { EntityManager } from "@mikro-orm/postgresql";
import { anyOf, millis, shownName } from "../expressions.ts";
import { changeRows, findRow, findRows, type Builder } from "../rows.ts";

export interface TeamRow {
  id: number;
  name: string;
  joinCode: string;
  ownerId: number;
  numMembers: number;
  createdAtMs: number;
}

export interface MemberRow {
  playerId: number;
  name: string;
  avatarV: number;
  joinedAtMs: number;
}

const teams = (db: Builder) =>
  db.selectFrom("teams as t").select((eb) => [
    "t.id",
    "t.name",
    "t.join_code as joinCode",
    "t.owner_id as ownerId",
    eb
      .selectFrom("team_members as m")
      .select((of) => of.fn.countAll<number>().as("count"))
      .whereRef("m.team_id", "=", "t.id")
      .$asScalar()
      .$notNull()
      .as("numMembers"),
    millis("t.created_at").as("createdAtMs"),
  ]);

export function findTeam(em: EntityManager, id: number): Promise<TeamRow | null> {
  return findRow(em, (db) => teams(db).where("t.id", "=", id));
}

export function findTeamOf(em: EntityManager, playerId: number): Promise<TeamRow | null> {
  return findRow(em, (db) =>
    teams(db).where("t.id", "=", (eb) =>
      eb.selectFrom("team_members").select("team_id").where("player_id", "=", playerId),
    ),
  );
}

/** Members, longest-standing first. */
export function listMembers(em: EntityManager, teamId: number): Promise<MemberRow[]> {
  return findRows(em, (db) =>
    db
      .selectFrom("team_members as m")
      .innerJoin("players as p", "p.id", "m.player_id")
      .select([
        "m.player_id as playerId",
        "p.avatar_v as avatarV",
        shownName().as("name"),
        millis("m.joined_at").as("joinedAtMs"),
      ])
      .where("m.team_id", "=", teamId)
      .orderBy("m.joined_at")
      .orderBy("m.player_id"),
  );
}

/** Serializes changes of a team until the transaction ends; null if it no longer exists. */
export function lockTeam(em: EntityManager, id: number): Promise<{ ownerId: number } | null> {
  return findRow(em, (db) =>
    db.selectFrom("teams").select("owner_id as ownerId").where("id", "=", id).forUpdate(),
  );
}

export async function findTeamByCode(em: EntityManager, joinCode: string): Promise<number | null> {
  const row = await findRow(em, (db) =>
    db.selectFrom("teams").select("id").where("join_code", "=", joinCode),
  );
  return row?.id ?? null;
}

export interface NewTeam {
  name: string;
  nameKey: string;
  nameSkeleton: string;
  joinCode: string;
  ownerId: number;
  at: Date;
}

/** Null if the name or the code is taken. */
export async function insertTeam(em: EntityManager, team: NewTeam): Promise<number | null> {
  const row = await findRow(em, (db) =>
    db
      .insertInto("teams")
      .values({
        name: team.name,
        name_key: team.nameKey,
        name_skeleton: team.nameSkeleton,
        join_code: team.joinCode,
        owner_id: team.ownerId,
        created_at: team.at,
      })
      .onConflict((conflict) => conflict.doNothing())
      .returning("id"),
  );
  return row?.id ?? null;
}

/** False if the player is already in a team. */
export async function insertMember(
  em: EntityManager,
  member: { teamId: number; playerId: number; at: Date },
): Promise<boolean> {
  const numInserted = await changeRows(em, (db) =>
    db
      .insertInto("team_members")
      .values({ player_id: member.playerId, team_id: member.teamId, joined_at: member.at })
      .onConflict((conflict) => conflict.column("player_id").doNothing()),
  );
  return numInserted > 0;
}

export async function countMembers(em: EntityManager, teamId: number): Promise<number> {
  const row = await findRow(em, (db) =>
    db
      .selectFrom("team_members")
      .select((eb) => eb.fn.countAll<number>().as("count"))
      .where("team_id", "=", teamId),
  );
  return row?.count ?? 0;
}

export async function isMember(
  em: EntityManager,
  teamId: number,
  playerId: number,
): Promise<boolean> {
  const row = await findRow(em, (db) =>
    db
      .selectFrom("team_members")
      .select("player_id")
      .where("team_id", "=", teamId)
      .where("player_id", "=", playerId),
  );
  return row !== null;
}

export async function deleteMember(
  em: EntityManager,
  teamId: number,
  playerId: number,
): Promise<boolean> {
  const numDeleted = await changeRows(em, (db) =>
    db.deleteFrom("team_members").where("team_id", "=", teamId).where("player_id", "=", playerId),
  );
  return numDeleted > 0;
}

/** Makes the longest-standing member with an open account the owner, or deletes a team without members. */
export async function passOnTeam(em: EntityManager, teamId: number): Promise<void> {
  await changeRows(em, (db) =>
    db
      .updateTable("teams")
      .from((of) =>
        of
          .selectFrom("team_members as m")
          .innerJoin("players as p", "p.id", "m.player_id")
          .select("m.player_id")
          .where("m.team_id", "=", teamId)
          .orderBy((eb) => eb("p.deleted_at", "is not", null))
          .orderBy("m.joined_at")
          .orderBy("m.player_id")
          .limit(1)
          .as("heir"),
      )
      .set((eb) => ({ owner_id: eb.ref("heir.player_id") }))
      .where("teams.id", "=", teamId),
  );
  await changeRows(em, (db) =>
    db
      .deleteFrom("teams")
      .where("id", "=", teamId)
      .where(({ not, exists, selectFrom }) =>
        not(exists(selectFrom("team_members").select("player_id").where("team_id", "=", teamId))),
      ),
  );
}

/** Deletes the teams of cleared accounts that have no other member: nobody could lead or join them. */
export async function endTeamsOfCleared(
  em: EntityManager,
  playerIds: readonly number[],
): Promise<void> {
  const theirs = (db: Builder) =>
    db
      .selectFrom("team_members")
      .select("team_id")
      .where("player_id", "=", anyOf(playerIds, "int"));
  await findRows(em, (db) =>
    db.selectFrom("teams").select("id").where("id", "in", theirs(db)).orderBy("id").forUpdate(),
  );
  await changeRows(em, (db) =>
    db
      .with("ended", (of) =>
        of
          .deleteFrom("teams")
          .where("id", "in", theirs(db))
          .where(({ not, exists, selectFrom }) =>
            not(
              exists(
                selectFrom("team_members as m")
                  .innerJoin("players as p", "p.id", "m.player_id")
                  .select("m.player_id")
                  .whereRef("m.team_id", "=", "teams.id")
                  .where("p.purged_at", "is", null),
              ),
            ),
          )
          .returning("id"),
      )
      .insertInto("board_changes")
      .columns(["kind", "subject_id"])
      .expression((eb) =>
        eb.selectFrom("ended").select([sql<"team">`'team'`.as("kind"), "id as subject_id"]),
      ),
  );
}

/** A taken name violates `teams_name_unique`. */
export async function renameTeam(
  em: EntityManager,
  id: number,
  { name, nameKey, nameSkeleton }: { name: string; nameKey: string; nameSkeleton: string },
): Promise<void> {
  // Another spelling of the current name is always allowed, even if an older confusable name exists.
  await changeRows(em, (db) =>
    db
      .updateTable("teams")
      .set((eb) => ({
        name,
        name_key: nameKey,
        name_skeleton: eb
          .case()
          .when("name_key", "=", nameKey)
          .then(eb.ref("name_skeleton"))
          .else(nameSkeleton)
          .end(),
      }))
      .where("id", "=", id),
  );
}
