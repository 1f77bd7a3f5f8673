import { findTeam, findTeamOf, listMembers } from "../../../db/queries/teams/teams.ts";
import { AppError } from "../../platform/errors.ts";
import { routesWith, reply, type Route } from "../../http/pipeline/route.ts";
import * as s from "./schemas.ts";
import { createTeam, expelMember, joinTeam, leaveTeam, renameTeam } from "./service.ts";
import type { TeamDeps } from "./deps.ts";

const defineRoute = routesWith<TeamDeps>();
const base = "/v1/games/trivia/teams";
const common = { tag: "Teams", source: "LB-05" } as const;
const named = { params: s.TeamParams, notFoundCode: "team:not_found" } as const;

const create = defineRoute({
  ...common,
  method: "POST",
  path: base,
  summary: "Found a team",
  auth: "registered",
  body: s.NameBody,
  responses: { 201: s.OwnTeam },
  errors: ["team:name_taken", "team:already_member"],
  handler: async ({ body, caller, deps }) =>
    reply(201, { team: s.presentOwnTeam(await createTeam(deps, caller.playerId, body.name)) }),
});

const own = defineRoute({
  ...common,
  method: "GET",
  path: `${base}/@me`,
  summary: "Read the caller's team, null without one",
  auth: "player",
  responses: { 200: s.MaybeTeam },
  errors: [],
  handler: async ({ caller, deps }) => {
    const team = await findTeamOf(deps.em, caller.playerId);
    return reply(200, { team: team === null ? null : s.presentOwnTeam(team) });
  },
});

const read = defineRoute({
  ...common,
  method: "GET",
  path: `${base}/{id}`,
  summary: "Read a team and its members; members also get the join code",
  auth: "optional",
  ...named,
  responses: { 200: s.TeamWithMembers },
  errors: ["team:not_found"],
  handler: async ({ params, caller, deps }) => {
    const team = await findTeam(deps.em, params.id);
    if (team === null) throw new AppError("team:not_found");
    const members = await listMembers(deps.em, params.id);
    const isMember = members.some(({ playerId }) => playerId === caller?.playerId);
    return reply(200, {
      team: isMember ? s.presentOwnTeam(team) : s.presentTeam(team),
      members: members.map(s.presentMember),
    });
  },
});

const rename = defineRoute({
  ...common,
  method: "PATCH",
  path: `${base}/{id}`,
  summary: "Rename a team (owner only)",
  auth: "registered",
  ...named,
  body: s.NameBody,
  responses: { 200: s.OwnTeam },
  errors: ["team:not_found", "team:not_owner", "team:name_taken"],
  handler: async ({ params, body, caller, deps }) => {
    const change = { teamId: params.id, name: body.name };
    return reply(200, {
      team: s.presentOwnTeam(await renameTeam(deps, caller.playerId, change)),
    });
  },
});

const join = defineRoute({
  ...common,
  method: "POST",
  path: `${base}/join`,
  summary: "Join a team by its code",
  auth: "player",
  guessable: { kind: "team", misses: ["team:not_found"] },
  body: s.JoinBody,
  responses: { 200: s.OwnTeam },
  errors: ["team:not_found", "team:full", "team:already_member"],
  handler: async ({ body, caller, deps }) =>
    reply(200, { team: s.presentOwnTeam(await joinTeam(deps, caller.playerId, body.join_code)) }),
});

const leave = defineRoute({
  ...common,
  method: "POST",
  path: `${base}/@me/leave`,
  summary: "Leave the team; an owner passes it to its longest-standing member",
  auth: "player",
  responses: { 204: null },
  errors: ["team:not_found"],
  handler: async ({ caller, deps }) => {
    await leaveTeam(deps, caller.playerId);
    return reply(204);
  },
});

const expel = defineRoute({
  ...common,
  method: "DELETE",
  path: `${base}/{id}/members/{playerId}`,
  summary: "Remove a member (owner only)",
  auth: "registered",
  params: s.MemberParams,
  notFoundCode: "team:not_found",
  responses: { 204: null },
  errors: ["team:not_found", "team:not_owner", "player:not_found"],
  handler: async ({ params, caller, deps }) => {
    await expelMember(deps, caller.playerId, { teamId: params.id, playerId: params.playerId });
    return reply(204);
  },
});

export const teamRoutes: Route<TeamDeps>[] = [create, own, join, leave, read, rename, expel];
