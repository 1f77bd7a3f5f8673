import type { LobbyCommand } from "../../../actors/index.ts";
import { routesWith, reply, type Route } from "../../http/pipeline/route.ts";
import { tokenRoute } from "../rooms/calls.ts";
import { keyOf } from "../rooms/service.ts";
import * as s from "./schemas.ts";
import {
  base,
  commandErrors,
  commandRoute,
  lobbyRoute,
  seatErrors,
  seatRoute,
} from "./seat-route.ts";
import { lobbyCallerOf, command, jsonReply, readCode } from "./service.ts";
import type { LobbyDeps } from "./deps.ts";

const defineRoute = routesWith<LobbyDeps>();

const token = tokenRoute<LobbyDeps, "seat">(
  {
    ...seatRoute,
    path: `${base}/{code}/token`,
    summary: "Get the cookie that opens the lobby's event stream",
    source: "document 2, Lobbies, Authentication; HUB-02",
    errors: [...seatErrors, "lobby:not_member"],
  },
  async (deps, code, caller) => {
    // Usually right after the join, which is a sign of the player too.
    const asked = { type: "check_seat", by: lobbyCallerOf(caller), isFollowUp: true } as const;
    const body = await command(deps, code, asked);
    return (JSON.parse(body ?? "null") as { player: { id: number } }).player.id;
  },
);

const spectateLobby = tokenRoute<LobbyDeps, "public">(
  {
    ...lobbyRoute,
    path: `${base}/{code}/spectate`,
    summary: "Get the cookie that lets anyone watch a public lobby",
    auth: "public",
    source: "HUB-08",
    errors: ["lobby:not_found"],
  },
  async (deps, code) => {
    await command(deps, code, { type: "spectate" });
    return null;
  },
);

const answer = defineRoute({
  ...commandRoute,
  method: "POST",
  path: `${base}/{code}/answer`,
  summary: "Answer the open question of a versus lobby",
  source: "document 2, Lobbies; LOB-12, LOB-17, LOB-28",
  body: s.AnswerBody,
  responses: { 200: s.VersusResult },
  errors: [
    ...commandErrors,
    "lobby:wrong_mode",
    "lobby:not_in_progress",
    "lobby:no_more_questions",
    "lobby:already_answered",
    "lobby:question_closed",
  ],
  handler: async ({ deps, caller, params, body, request }) => {
    const asked: LobbyCommand = {
      type: "answer",
      selectedIndex: body.selected_index,
      claimedMs: body.time_taken_ms,
      index: body.index ?? null,
      by: lobbyCallerOf(caller),
    };
    return jsonReply(await command(deps, readCode(params.code), asked, keyOf(request)));
  },
});

const pick = defineRoute({
  ...commandRoute,
  method: "POST",
  path: `${base}/{code}/pick`,
  summary: "Set the tentative pick of a co-op lobby",
  source: "document 2, Lobbies; LOB-17, LOB-28",
  body: s.PickBody,
  responses: { 204: null },
  errors: [...commandErrors, "lobby:wrong_mode", "lobby:not_in_progress", "lobby:question_closed"],
  handler: async ({ deps, caller, params, body, request }) => {
    const asked: LobbyCommand = {
      type: "pick",
      selectedIndex: body.selected_index,
      index: body.index ?? null,
      by: lobbyCallerOf(caller),
    };
    await command(deps, readCode(params.code), asked, keyOf(request));
    return reply(204);
  },
});

const reveal = defineRoute({
  ...lobbyRoute,
  method: "POST",
  path: `${base}/{code}/reveal`,
  summary: "Request the reveal after the timer has elapsed",
  auth: "public",
  source: "document 2, Lobbies; LOB-15",
  responses: { 200: s.Ok },
  errors: ["lobby:not_found"],
  handler: async ({ deps, params }) => {
    const asked: LobbyCommand = { type: "reveal", by: lobbyCallerOf(null) };
    await command(deps, readCode(params.code), asked);
    return reply(200, { ok: true });
  },
});

const heartbeat = defineRoute({
  ...seatRoute,
  method: "POST",
  path: `${base}/{code}/heartbeat`,
  summary: "Report that the player is still present",
  source: "document 2, Lobbies; LOB-19",
  responses: { 200: s.Ok },
  errors: seatErrors,
  handler: async ({ deps, caller, params }) => {
    const asked: LobbyCommand = { type: "heartbeat", by: lobbyCallerOf(caller) };
    await command(deps, readCode(params.code), asked);
    return reply(200, { ok: true });
  },
});

const leave = defineRoute({
  ...commandRoute,
  method: "POST",
  path: `${base}/{code}/leave`,
  summary: "Leave the lobby; it ends if the host leaves",
  source: "document 2, Lobbies",
  responses: { 204: null },
  errors: commandErrors,
  handler: async ({ deps, caller, params, request }) => {
    const asked: LobbyCommand = { type: "leave", by: lobbyCallerOf(caller) };
    await command(deps, readCode(params.code), asked, keyOf(request));
    return reply(204);
  },
});

/** Commands and reads of players and spectators. */
export const playRoutes: Route<LobbyDeps>[] = [
  token,
  spectateLobby,
  answer,
  pick,
  reveal,
  heartbeat,
  leave,
];
