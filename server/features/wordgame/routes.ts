import { AppError } from "../../platform/errors.ts";
import { nameOf } from "../../http/pipeline/idempotent-input.ts";
import { routesWith, reply, type Route } from "../../http/pipeline/route.ts";
import * as s from "./schemas.ts";
import { readWordLeaderboard, submitResult } from "./service.ts";
import type { WordGameDeps } from "./deps.ts";

const defineRoute = routesWith<WordGameDeps>();
const base = "/v1/games/wordgame";
const tag = "Word game";

const submit = defineRoute({
  method: "POST",
  path: `${base}/results`,
  summary: "Submit a finished game",
  tag,
  auth: "player",
  source: "document 2, Word game; WG-01 to WG-04, HTTP-15",
  idempotent: true,
  body: s.ResultBody,
  crossFieldChecks: s.resultProblems,
  responses: { 200: s.Submitted },
  errors: ["auth:token_invalid", "server:unavailable"],
  handler: async ({ body, caller, deps, memoizeForKey }) =>
    reply(200, await submitResult(deps, caller.playerId, body, await nameOf(memoizeForKey))),
});

const leaderboard = defineRoute({
  method: "GET",
  path: `${base}/leaderboard`,
  summary: "Read the leaderboard of daily or random games",
  tag,
  auth: "public",
  source: "document 2, Word game; WG-02, WG-03, WG-04",
  cache: "public, max-age=60",
  query: s.BoardQuery,
  responses: { 200: s.WordLeaderboard },
  errors: ["wordgame:invalid_mode", "request:invalid_query", "server:unavailable"],
  handler: async ({ query, deps }) => {
    const { mode, period, timezone: timeZone, limit, page, username = null } = query;
    if (mode !== "daily" && mode !== "random") throw new AppError("wordgame:invalid_mode");
    const leaderboard = await readWordLeaderboard(deps, {
      mode,
      period,
      timeZone,
      limit,
      page,
      username,
    });
    return reply(200, leaderboard, [["Vary", "Accept"]]);
  },
});

export const wordgameRoutes: Route<WordGameDeps>[] = [submit, leaderboard];
