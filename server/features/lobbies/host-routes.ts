import type { Static } from "typebox";
import type { LobbyCommand } from "../../../actors/index.ts";
import { findLobbyResult } from "../../../db/queries/lobbies/lobby-results.ts";
import type { ErrorCode } from "../../platform/errors.ts";
import { roomCodeOf } from "../../platform/text/room-codes.ts";
import {
  bytesReply,
  routesWith,
  encodedReply,
  reply,
  type Route,
  type GuessCheck,
} from "../../http/pipeline/route.ts";
import { categoryOf } from "../questions/categories.ts";
import { keyOf } from "../rooms/service.ts";
import { presentResults, readResults } from "./results.ts";
import { prefersCsv, resultsCsv } from "./results-csv.ts";
import { Results, ResultsQuery } from "./results-schema.ts";
import * as s from "./schemas.ts";
import { base, commandRoute, guessableCode, hostErrors, seatRoute } from "./seat-route.ts";
import {
  lobbyCallerOf,
  blankToNull,
  command,
  defaultTimer,
  lockQuestion,
  nextQuestion,
  readCode,
  startLobby,
} from "./service.ts";
import type { LobbyDeps } from "./deps.ts";

const defineRoute = routesWith<LobbyDeps>();

const settings = defineRoute({
  ...commandRoute,
  method: "PATCH",
  path: `${base}/{code}/settings`,
  summary: "Change the settings of a waiting lobby",
  source: "document 2, Lobbies; LOB-22",
  body: s.SettingsBody,
  responses: { 204: null },
  errors: [...hostErrors, "lobby:not_waiting"],
  handler: async ({ deps, caller, params, body, request }) => {
    const changes = { ...pickKnown(body) };
    await command(
      deps,
      readCode(params.code),
      { type: "settings", changes, by: lobbyCallerOf(caller) },
      keyOf(request),
    );
    return reply(204);
  },
});

const start = defineRoute({
  ...commandRoute,
  method: "POST",
  path: `${base}/{code}/start`,
  summary: "Draw the questions and start the game",
  // A draw may wait 20 s for new questions (LOB-24).
  deadlineMs: 30_000,
  source: "document 2, Lobbies; LOB-13, LOB-24",
  responses: { 200: s.LobbyOnly },
  errors: [
    ...hostErrors,
    "lobby:already_started",
    "lobby:not_enough_players",
    "generator:unavailable",
  ],
  handler: async ({ deps, caller, params, request }) =>
    encodedReply(
      200,
      (await startLobby(deps, caller, readCode(params.code), keyOf(request))) ?? "{}",
    ),
});

/** Calls of the host about a question: path segment -> its command and additional refusals. */
const hostCommands = [
  {
    type: "lock",
    run: lockQuestion,
    summary: "Turn the picks into answers and reveal",
    source: "LOB-17, LOB-26",
    errors: [
      "lobby:wrong_mode",
      "lobby:not_in_progress",
      "lobby:no_more_questions",
      "lobby:question_closed",
    ],
  },
  {
    type: "next",
    run: nextQuestion,
    // An endless game that has used all stored questions may wait for new ones (LOB-20).
    deadlineMs: 30_000,
    summary: "Close the question if open, and go to the next one",
    source: "LOB-16, LOB-28",
    errors: ["lobby:not_in_progress", "lobby:too_early", "lobby:question_closed"],
  },
] as const satisfies {
  type: "lock" | "next";
  run: typeof nextQuestion;
  deadlineMs?: number;
  summary: string;
  source: string;
  errors: ErrorCode[];
}[];

const hostRoutes = hostCommands.map(({ type, run, summary, source, errors, ...times }) =>
  defineRoute({
    ...commandRoute,
    ...times,
    method: "POST",
    path: `${base}/{code}/${type}`,
    summary,
    source: `document 2, Lobbies; ${source}`,
    body: s.IndexBody,
    responses: { 200: s.LobbyOnly },
    errors: [...hostErrors, ...errors],
    handler: async ({ deps, caller, params, body, request }) => {
      const asked = { index: body.index ?? null, by: lobbyCallerOf(caller) };
      return encodedReply(
        200,
        (await run(deps, readCode(params.code), asked, keyOf(request))) ?? "{}",
      );
    },
  }),
);

const end = defineRoute({
  ...commandRoute,
  method: "POST",
  path: `${base}/{code}/end`,
  summary: "End the game for everyone",
  source: "document 2, Lobbies; LOB-18",
  responses: { 200: s.LobbyOnly },
  errors: hostErrors,
  handler: async ({ deps, caller, params, request }) =>
    encodedReply(
      200,
      (await command(
        deps,
        readCode(params.code),
        { type: "end", by: lobbyCallerOf(caller) },
        keyOf(request),
      )) ?? "{}",
    ),
});

const kick = defineRoute({
  ...commandRoute,
  method: "DELETE",
  path: `${base}/{code}/players/{playerId}`,
  summary: "Remove a player from the lobby",
  source: "document 2, Lobbies; LOB-25",
  notFoundCode: "lobby:player_not_found",
  params: s.PlayerParams,
  query: s.KickQuery,
  responses: { 204: null },
  errors: [...hostErrors, "lobby:host_not_removable", "lobby:not_in_progress"],
  handler: async ({ deps, caller, params, query, request }) => {
    const asked: LobbyCommand = {
      type: "kick",
      seatId: params.playerId,
      ban: query.ban ?? false,
      by: lobbyCallerOf(caller),
    };
    await command(deps, readCode(params.code), asked, keyOf(request));
    return reply(204);
  },
});

const results = defineRoute({
  ...seatRoute,
  method: "GET",
  path: `${base}/{code}/results`,
  summary: "Read the results of a finished lobby, as JSON or CSV",
  source: "addition to document 2, Lobbies; LOB-27",
  // Only the host may read a finished lobby.
  guessable: { ...guessableCode, isKnownTo: playedIn },
  query: ResultsQuery,
  responses: { 200: Results },
  errors: [...hostErrors, "lobby:not_finished"],
  handler: async ({ deps, caller, params, query, request }) => {
    const code = readCode(params.code);
    const sheet = await readResults(deps, caller, code);
    const format = query.format ?? (prefersCsv(request.headers["accept"]) ? "csv" : "json");
    if (format === "json") return reply(200, { results: presentResults(sheet) });
    return bytesReply(200, "text/csv; charset=utf-8", resultsCsv(sheet), [
      ["Content-Disposition", `attachment; filename="lobby-${code}.csv"`],
    ]);
  },
});

async function playedIn(given: GuessCheck<LobbyDeps>): Promise<boolean> {
  if (await guessableCode.isKnownTo(given)) return true;
  const { playerId, params, deps } = given;
  const code = roomCodeOf(String(params["code"])) ?? "";
  return (await findLobbyResult(deps.em, code, playerId))?.hostPlayerId === playerId;
}

/** Commands of the host only. */
export const hostCallRoutes: Route<LobbyDeps>[] = [
  settings,
  start,
  ...hostRoutes,
  end,
  kick,
  results,
];

type SettingsInput = Static<typeof s.SettingsBody>;

/** Only documented fields reach the lobby (S13); category names become slugs (TRV-01). */
function pickKnown(body: SettingsInput) {
  const { prompt, selected_categories, timer, ...rest } = body;
  const known = Object.fromEntries(
    Object.entries(rest).filter(([name]) => name in s.SettingsBody.properties),
  ) as Omit<SettingsInput, "prompt" | "selected_categories" | "timer">;
  return {
    ...known,
    ...(prompt === undefined ? {} : { prompt: blankToNull(prompt) }),
    ...(timer === undefined ? {} : { timer: timer ?? defaultTimer }),
    ...(selected_categories === undefined
      ? {}
      : {
          selected_categories: selected_categories.map(
            (name, i) => categoryOf(name, `selected_categories[${i}]`) ?? "random",
          ),
        }),
  };
}
