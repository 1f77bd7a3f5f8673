import type { LobbyCommand } from "../../../actors/index.ts";
import { routesWith, encodedReply, type Route } from "../../http/pipeline/route.ts";
import { hostCallRoutes } from "./host-routes.ts";
import { playRoutes } from "./play-routes.ts";
import * as s from "./schemas.ts";
import { base, lobbyRoute, tag } from "./seat-route.ts";
import {
  lobbyCallerOf,
  command,
  createLobby,
  drawLobby,
  joinLobby,
  jsonReply,
  readCode,
} from "./service.ts";
import type { LobbyDeps } from "./deps.ts";

const defineRoute = routesWith<LobbyDeps>();

const listLobbies = defineRoute({
  method: "GET",
  path: base,
  summary: "List the public unfinished lobbies, newest first",
  tag,
  auth: "public",
  source: "document 2, Lobbies; LOB-04",
  responses: { 200: s.LobbyList },
  errors: [],
  handler: async ({ deps }) => encodedReply(200, `{"lobbies":${await deps.lobbies.listIndex()}}`),
});

const create = defineRoute({
  method: "POST",
  path: base,
  summary: "Create a lobby; the caller becomes its host",
  tag,
  auth: "player",
  source: "document 2, Lobbies; LOB-01, LOB-06, LOB-07",
  setsCookie: "by-page",
  idempotent: true,
  body: s.CreateBody,
  rare: { namesOwner: true },
  responses: { 201: s.Created },
  errors: ["lobby:too_many", "room:maintenance"],
  draw: drawLobby,
  handler: ({ deps, caller, body, drawn }) => createLobby(deps, caller, body, drawn),
});

const readRoutes = ["", "/status"].map((suffix) =>
  defineRoute({
    ...lobbyRoute,
    method: "GET",
    path: `${base}/{code}${suffix}`,
    summary:
      suffix === ""
        ? "Read a lobby"
        : "Read a lobby, for example if the event stream is unavailable",
    auth: "optional_seat",
    source: "document 2, Lobbies; LOB-05",
    responses: { 200: s.LobbyAndPlayer },
    errors: ["lobby:not_found"],
    handler: async ({ deps, caller, params }) => {
      const asked: LobbyCommand = { type: "read", by: lobbyCallerOf(caller) };
      return jsonReply(await command(deps, readCode(params.code), asked));
    },
  }),
);

const join = defineRoute({
  ...lobbyRoute,
  method: "POST",
  path: `${base}/{code}/join`,
  summary: "Take a seat in a waiting lobby, if need be that of a player who is gone",
  auth: "optional_seat",
  source: "document 2, Lobbies; LOB-01, LOB-05, LOB-06, LOB-30; HTTP-15",
  setsCookie: "by-page",
  // A repeated join would find its own name taken.
  idempotent: true,
  body: s.JoinBody,
  responses: { 201: s.Joined },
  errors: [
    "lobby:not_found",
    "lobby:not_accepting_players",
    "lobby:full",
    "lobby:name_taken",
    "lobby:banned",
  ],
  draw: ({ ids }) => ids.seat(),
  handler: ({ deps, caller, params, body, drawn: id }) =>
    joinLobby(deps, caller, readCode(params.code), { id, name: body.name }),
});

export const lobbyRoutes: Route<LobbyDeps>[] = [
  listLobbies,
  create,
  ...readRoutes,
  join,
  ...hostCallRoutes,
  ...playRoutes,
];
