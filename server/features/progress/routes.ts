import { listFavorites, removeFavorite } from "../../../db/queries/questions/favorites.ts";
import { readPreferences } from "../../../db/queries/progress/player-progress.ts";
import { AppError } from "../../platform/errors.ts";
import { routesWith, reply, type Route } from "../../http/pipeline/route.ts";
import * as s from "./schemas.ts";
import * as progress from "./service.ts";
import type { ProgressDeps } from "./deps.ts";

const defineRoute = routesWith<ProgressDeps>();
const base = "/v1/games/trivia";
const tag = "Progress";

const state = defineRoute({
  method: "GET",
  path: `${base}/state`,
  summary: "Read preferences, totals, levels, seen questions and the play session of the caller",
  tag,
  auth: "player",
  source: "document 2, Player state; TRV-10, RUN-01, SCO-02, SCO-03",
  responses: { 200: s.PlayerState },
  errors: [],
  handler: async ({ caller, deps }) =>
    reply(200, s.presentState(await progress.readState(deps, caller.playerId))),
});

const endSession = defineRoute({
  method: "POST",
  path: `${base}/session/end`,
  summary: "End the open play session, if there is one",
  tag,
  auth: "player",
  source: "document 2, Player state; RUN-01",
  responses: { 200: s.Ended },
  errors: [],
  handler: async ({ caller, deps }) => {
    await progress.endPlaySession(deps, caller.playerId);
    return reply(200, { ok: true as const });
  },
});

const preferences = defineRoute({
  method: "GET",
  path: `${base}/preferences`,
  summary: "Read the preferences of the caller's clients",
  tag,
  auth: "player",
  source: "document 2, Player state; TRV-10",
  responses: { 200: s.PreferencesView },
  errors: [],
  handler: async ({ caller, deps }) =>
    reply(200, { preferences: await readPreferences(deps.em, caller.playerId) }),
});

const mergePreferences = defineRoute({
  method: "PATCH",
  path: `${base}/preferences`,
  summary: "Merge keys into the preferences of the caller's clients",
  tag,
  auth: "player",
  source: "document 2, Player state; TRV-10",
  body: s.PreferencesBody,
  responses: { 200: s.PreferencesView },
  errors: [],
  handler: async ({ caller, body, deps }) => {
    const merged = await progress.mergePreferences(deps, caller.playerId, body);
    return reply(200, { preferences: merged });
  },
});

const favorites = defineRoute({
  method: "GET",
  path: `${base}/favorites`,
  summary: "List the caller's favorite questions, newest first",
  tag,
  auth: "registered",
  source: "document 2, Favorites; TRV-10, TRV-12",
  responses: { 200: s.FavoriteList },
  errors: [],
  handler: async ({ caller, deps }) => {
    const rows = await listFavorites(deps.em, caller.playerId, progress.mostFavorites);
    return reply(200, { favorites: rows.map(s.presentListed) });
  },
});

const keepFavorite = defineRoute({
  method: "POST",
  path: `${base}/favorites`,
  summary: "Keep a question",
  tag,
  auth: "registered",
  source: "document 2, Favorites; TRV-10",
  body: s.FavoriteBody,
  responses: { 201: s.FavoriteView },
  errors: ["question:not_found", "favorite:exists", "favorite:limit_reached"],
  handler: async ({ caller, body, deps }) => {
    const row = await progress.keepFavorite(deps, caller.playerId, body.question_id);
    return reply(201, s.presentFavorite(row));
  },
});

const dropFavorite = defineRoute({
  method: "DELETE",
  path: `${base}/favorites/{questionId}`,
  summary: "Remove a favorite question",
  tag,
  auth: "registered",
  source: "document 2, Favorites",
  params: s.FavoriteParams,
  notFoundCode: "favorite:not_found",
  responses: { 204: null },
  errors: ["favorite:not_found"],
  handler: async ({ caller, params, deps }) => {
    if (!(await removeFavorite(deps.em, caller.playerId, params.questionId)))
      throw new AppError("favorite:not_found");
    return reply(204);
  },
});

export const progressRoutes: Route<ProgressDeps>[] = [
  state,
  endSession,
  preferences,
  mergePreferences,
  favorites,
  keepFavorite,
  dropFavorite,
];
