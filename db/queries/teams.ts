import { sql } from "kysely";
import type { EntityManager } from "@mikro-orm/postgresql";
import { closedName } from "./board-rows.ts";
import { rowsOf } from "./rows.ts";

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

const columns = sql`t.id, t.name, t.join_code as "joinCode", t.owner_id as "ownerId",
  (select count(*)::int from team_members m where m.team_id = t.id) as "numMembers",
  (extract(epoch from t.created_at) * 1000)::float8 as "createdAtMs"`;

export async function findTeam(em: EntityManager, id: number): Promise<TeamRow | null> {
  const rows = await rowsOf<TeamRow>(em, sql`select ${columns} from teams t where t.id = ${id}`);
  return rows[0] ?? null;
}

export async function findTeamOf(em: EntityManager, playerId: number): Promise<TeamRow | null> {
  const rows = await rowsOf<TeamRow>(
    em,
    sql`select ${columns} from teams t
      where t.id = (select team_id from team_members where player_id = ${playerId})`,
  );
  return rows[0] ?? null;
}

/** Members, longest first. */
export async function listMembers(em: EntityManager, teamId: number): Promise<MemberRow[]> {
  return rowsOf(
    em,
    sql`select m.player_id as "playerId", p.avatar_v as "avatarV",
        case when p.deleted_at is null then p.name else ${closedName} end as name,
        (extract(epoch from m.joined_at) * 1000)::float8 as "joinedAtMs"
      from team_members m join players p on p.id = m.player_id
      where m.team_id = ${teamId} order by m.joined_at, m.player_id`,
  );
}

/** Changes of one team come one after another from here on; null when it is gone. */
export async function lockTeam(em: EntityManager, id: number): Promise<{ ownerId: number } | null> {
  const rows = await rowsOf<{ ownerId: number }>(
    em,
    sql`select owner_id as "ownerId" from teams where id = ${id} for update`,
  );
  return rows[0] ?? null;
}

export async function findTeamByCode(em: EntityManager, joinCode: string): Promise<number | null> {
  const rows = await rowsOf<{ id: number }>(
    em,
    sql`select id from teams where join_code = ${joinCode}`,
  );
  return rows[0]?.id ?? null;
}

export interface NewTeam {
  name: string;
  nameKey: string;
  nameSkeleton: string;
  joinCode: string;
  ownerId: number;
  at: Date;
}

/** Null when the name, or the code, is taken. */
export async function insertTeam(em: EntityManager, team: NewTeam): Promise<number | null> {
  const rows = await rowsOf<{ id: number }>(
    em,
    sql`insert into teams (name, name_key, name_skeleton, join_code, owner_id, created_at)
      values (${team.name}, ${team.nameKey}, ${team.nameSkeleton}, ${team.joinCode}, ${team.ownerId},
        ${team.at})
      on conflict do nothing returning id`,
  );
  return rows[0]?.id ?? null;
}

/** False when the player is in a team already. */
export async function insertMember(
  em: EntityManager,
  member: { teamId: number; playerId: number; at: Date },
): Promise<boolean> {
  const rows = await rowsOf(
    em,
    sql`insert into team_members (player_id, team_id, joined_at)
      values (${member.playerId}, ${member.teamId}, ${member.at})
      on conflict (player_id) do nothing returning player_id`,
  );
  return rows.length > 0;
}

export async function countMembers(em: EntityManager, teamId: number): Promise<number> {
  const rows = await rowsOf<{ count: number }>(
    em,
    sql`select count(*)::int as count from team_members where team_id = ${teamId}`,
  );
  return rows[0]?.count ?? 0;
}

export async function isMember(
  em: EntityManager,
  teamId: number,
  playerId: number,
): Promise<boolean> {
  const rows = await rowsOf(
    em,
    sql`select 1 from team_members where team_id = ${teamId} and player_id = ${playerId}`,
  );
  return rows.length > 0;
}

export async function deleteMember(
  em: EntityManager,
  teamId: number,
  playerId: number,
): Promise<boolean> {
  const rows = await rowsOf(
    em,
    sql`delete from team_members where team_id = ${teamId} and player_id = ${playerId}
      returning player_id`,
  );
  return rows.length > 0;
}

/** The longest member with an open account becomes the owner; without members the team goes. */
export async function passOnTeam(em: EntityManager, teamId: number): Promise<void> {
  await rowsOf(
    em,
    sql`update teams set owner_id = heir.player_id from (
        select m.player_id from team_members m join players p on p.id = m.player_id
        where m.team_id = ${teamId}
        order by p.deleted_at is not null, m.joined_at, m.player_id limit 1
      ) heir where id = ${teamId}`,
  );
  await rowsOf(
    em,
    sql`delete from teams where id = ${teamId}
      and not exists (select 1 from team_members where team_id = ${teamId})`,
  );
}

/** Ends the teams of cleared accounts in which nobody else is: nobody could lead them, or join. */
export async function endTeamsOfCleared(
  em: EntityManager,
  playerIds: readonly number[],
): Promise<void> {
  const theirs = sql`select team_id from team_members where player_id = any(${[...playerIds]}::int[])`;
  await rowsOf(em, sql`select id from teams where id in (${theirs}) order by id for update`);
  await rowsOf(
    em,
    sql`with ended as (
        delete from teams where id in (${theirs}) and not exists (
          select 1 from team_members m join players p on p.id = m.player_id
          where m.team_id = teams.id and p.purged_at is null)
        returning id
      )
      insert into board_changes (kind, subject_id) select 'team', id from ended`,
  );
}

/** A name that is taken violates `teams_name_unique`. */
export async function renameTeam(
  em: EntityManager,
  id: number,
  { name, nameKey, nameSkeleton }: { name: string; nameKey: string; nameSkeleton: string },
): Promise<void> {
  // Another spelling of the name it has is no new name: an older twin of it stays.
  await rowsOf(
    em,
    sql`update teams set name = ${name}, name_key = ${nameKey},
        name_skeleton = case when name_key = ${nameKey} then name_skeleton else ${nameSkeleton} end
      where id = ${id}`,
  );
}
