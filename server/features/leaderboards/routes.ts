import { findChallenge } from "../../../db/queries/runs/challenges.ts";
import { AppError } from "../../platform/errors.ts";
import { routesWith, reply, type Route } from "../../http/pipeline/route.ts";
import * as s from "./schemas.ts";
import { readChallengeLeaderboard, readGlobalLeaderboard, readTeamLeaderboard } from "./service.ts";
import type { LeaderboardDeps } from "./deps.ts";

const defineRoute = routesWith<LeaderboardDeps>();
const base = "/v1/games/trivia/leaderboard";
const common = { method: "GET", tag: "Leaderboards", auth: "optional" } as const;

const global = defineRoute({
  ...common,
  path: base,
  summary: "Read the leaderboard of all players by score, accuracy, streak or XP",
  source: "document 2, Leaderboards; LB-01, LB-02, LB-04",
  query: s.GlobalQuery,
  responses: { 200: s.GlobalLeaderboard },
  errors: ["request:invalid_query", "server:unavailable"],
  handler: async ({ query, caller, deps }) => {
    const { tab, limit, page, search = null } = query;
    const asked = { tab, limit, page, search };
    return reply(200, await readGlobalLeaderboard(deps, caller?.playerId ?? null, asked));
  },
});

const challenge = defineRoute({
  ...common,
  path: `${base}/challenges/{challengeId}`,
  summary: "Read the leaderboard of a challenge, and the caller's neighbours",
  source: "document 2, Leaderboards; LB-03, LB-04",
  params: s.ChallengeParams,
  notFoundCode: "challenge:not_found",
  query: s.ChallengeQuery,
  responses: { 200: s.ChallengeLeaderboard },
  errors: ["request:invalid_query", "challenge:not_found", "server:unavailable"],
  handler: async ({ params, query, caller, deps }) => {
    const { challengeId } = params;
    if ((await findChallenge(deps.em, challengeId)) === null)
      throw new AppError("challenge:not_found");
    const { top: limit, radius, page, search = null } = query;
    const asked = { challengeId, radius, limit, page, search };
    return reply(200, await readChallengeLeaderboard(deps, caller?.playerId ?? null, asked));
  },
});

const teams = defineRoute({
  ...common,
  path: `${base}/teams`,
  summary: "Read the leaderboard of teams by score, accuracy or streak",
  source: "document 2, Leaderboards; LB-06",
  query: s.TeamQuery,
  responses: { 200: s.TeamLeaderboard },
  errors: ["request:invalid_query", "server:unavailable"],
  handler: async ({ query, deps }) => reply(200, await readTeamLeaderboard(deps, query)),
});

export const leaderboardRoutes: Route<LeaderboardDeps>[] = [global, challenge, teams];
