import type { EntityManager } from "@mikro-orm/postgresql";
import { recordChange } from "../../../db/queries/leaderboards/leaderboard-changes.ts";
import { brokenConstraint } from "../../../db/constraints.ts";
import { findOpenPlayer } from "../../../db/queries/accounts/players.ts";
import * as teams from "../../../db/queries/teams/teams.ts";
import { foldName } from "../../platform/text/account-names.ts";
import { AppError } from "../../platform/errors.ts";
import { randomString } from "../../platform/ids.ts";
import { codeIn } from "../../platform/text/pasted.ts";
import { skeletonOf } from "../../platform/text/skeletons.ts";
import type { TeamDeps } from "./deps.ts";
import { joinAlphabet, joinCodeLength, joinForm } from "./schemas.ts";

/** Members of a team at most (LB-05). */
export const maxMembers = 20;
/** Retries of a taken code; there are a million million codes. */
const codeTries = 3;

const nameOf = (name: string) => ({
  name: name.trim(),
  nameKey: foldName(name),
  nameSkeleton: skeletonOf(name),
});

/** The caller's new team. Throws `team:name_taken`, `team:already_member`. */
export async function createTeam(
  deps: TeamDeps,
  playerId: number,
  name: string,
): Promise<teams.TeamRow> {
  const at = new Date(deps.clock.now());
  return deps.em.transactional(async (em) => {
    await requireFree(em, playerId);
    const id = await insertWithCode(em, { ...nameOf(name), ownerId: playerId, at });
    await addMember(em, { teamId: id, playerId, at });
    return require(await teams.findTeam(em, id));
  });
}

async function requireFree(em: EntityManager, playerId: number): Promise<void> {
  // A token may outlive its player.
  if ((await findOpenPlayer(em, playerId)) === null) throw new AppError("auth:token_invalid");
  if ((await teams.findTeamOf(em, playerId)) !== null) throw new AppError("team:already_member");
}

async function requireRoom(em: EntityManager, teamId: number, playerId: number): Promise<void> {
  await requireFree(em, playerId);
  if ((await teams.countMembers(em, teamId)) >= maxMembers) throw new AppError("team:full");
}

async function insertWithCode(
  em: EntityManager,
  team: Omit<teams.NewTeam, "joinCode">,
): Promise<number> {
  for (let attempt = 0; attempt < codeTries; attempt++) {
    const joinCode = randomString(joinCodeLength, joinAlphabet);
    const id = await teams.insertTeam(em, { ...team, joinCode });
    if (id !== null) return id;
  }
  throw new AppError("team:name_taken");
}

async function addMember(
  em: EntityManager,
  member: { teamId: number; playerId: number; at: Date },
): Promise<void> {
  if (!(await teams.insertMember(em, member))) throw new AppError("team:already_member");
  await noteTeam(em, member.teamId);
}

const noteTeam = (em: EntityManager, subjectId: number) =>
  recordChange(em, { kind: "team", subjectId });

function require(team: teams.TeamRow | null): teams.TeamRow {
  if (team === null) throw new AppError("team:not_found");
  return team;
}

/**
 * A team whose members' accounts are all closed gets the joining player as owner. Throws `team:not_found` for an
 * unknown code, `team:full`, `team:already_member`.
 */
export async function joinTeam(
  deps: TeamDeps,
  playerId: number,
  text: string,
): Promise<teams.TeamRow> {
  const code = codeIn(text, joinForm);
  if (code === null) throw new AppError("team:not_found");
  const at = new Date(deps.clock.now());
  return deps.em.transactional(async (em) => {
    const teamId = await teams.findTeamByCode(em, code);
    // Also checked before the lock, so that a repeat does not wait.
    if (teamId !== null) await requireRoom(em, teamId, playerId);
    const team = teamId === null ? null : await teams.lockTeam(em, teamId);
    if (teamId === null || team === null) throw new AppError("team:not_found");
    await requireRoom(em, teamId, playerId);
    await addMember(em, { teamId, playerId, at });
    if ((await findOpenPlayer(em, team.ownerId)) === null) await teams.passOnTeam(em, teamId);
    return require(await teams.findTeam(em, teamId));
  });
}

/** The caller leaves; throws `team:not_found` without a team. */
export async function leaveTeam(deps: TeamDeps, playerId: number): Promise<void> {
  await deps.em.transactional(async (em) => {
    const team = require(await teams.findTeamOf(em, playerId));
    if (!(await removeMember(em, team.id, playerId))) throw new AppError("team:not_found");
  });
}

/** False when the player is no member (any more). */
async function removeMember(em: EntityManager, teamId: number, playerId: number): Promise<boolean> {
  const team = await teams.lockTeam(em, teamId);
  if (team === null || !(await teams.deleteMember(em, teamId, playerId))) return false;
  if (team.ownerId === playerId) await teams.passOnTeam(em, teamId);
  await noteTeam(em, teamId);
  return true;
}

/** In the transaction that closes an account: its team gets another owner with an open account. */
export async function handOnTeamOf(em: EntityManager, playerId: number): Promise<void> {
  const team = await teams.findTeamOf(em, playerId);
  if (team === null) return;
  const locked = await teams.lockTeam(em, team.id);
  if (locked?.ownerId === playerId) await teams.passOnTeam(em, team.id);
}

/** The owner sends a member away, or leaves. Throws `team:not_owner`, `player:not_found`. */
export async function expelMember(
  deps: TeamDeps,
  callerId: number,
  { teamId, playerId }: { teamId: number; playerId: number },
): Promise<void> {
  await deps.em.transactional(async (em) => {
    refuseOthers(await teams.findTeam(em, teamId), callerId);
    if (!(await teams.isMember(em, teamId, playerId))) throw new AppError("player:not_found");
    await requireOwner(em, teamId, callerId);
    if (!(await removeMember(em, teamId, playerId))) throw new AppError("player:not_found");
  });
}

async function requireOwner(em: EntityManager, teamId: number, callerId: number): Promise<void> {
  refuseOthers(await teams.lockTeam(em, teamId), callerId);
}

function refuseOthers(team: { ownerId: number } | null, callerId: number): void {
  if (team === null) throw new AppError("team:not_found");
  if (team.ownerId !== callerId) throw new AppError("team:not_owner");
}

const nameConstraints = new Set<string | null>(["teams_name_unique", "teams_name_skeleton_unique"]);

/** Throws `team:not_owner`, `team:name_taken`. */
export async function renameTeam(
  deps: TeamDeps,
  callerId: number,
  { teamId, name }: { teamId: number; name: string },
): Promise<teams.TeamRow> {
  const work = deps.em.transactional(async (em) => {
    const seen = await teams.findTeam(em, teamId);
    refuseOthers(seen, callerId);
    if (seen?.name === name.trim()) return seen;
    await requireOwner(em, teamId, callerId);
    await teams.renameTeam(em, teamId, nameOf(name));
    return require(await teams.findTeam(em, teamId));
  });
  return work.catch((error: unknown) => {
    if (nameConstraints.has(brokenConstraint(error))) throw new AppError("team:name_taken");
    throw error;
  });
}
