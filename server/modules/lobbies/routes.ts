import { stringifySetCookie } from "cookie";
import type { Static } from "typebox";
import type { LobbyCommand } from "../../../actors/index.ts";
import { AppError, type ErrorCode } from "../../core/errors.ts";
import {
  defineRoute,
  encodedReply,
  reply,
  type AnyRoute,
  type Headers,
  type RequestInfo,
} from "../../http/route.ts";
import { categoryOf } from "../questions/service.ts";
import * as s from "./schemas.ts";
import {
  askerOf,
  blankToNull,
  command,
  createLobby,
  defaultTimer,
  hubToken,
  joinLobby,
  readCode,
  startLobby,
  type TakenSeat,
} from "./service.ts";

const base = "/v1/games/trivia/lobbies";
const tag = "Lobbies";
const cookieSeconds = 86_400;

/** Refusals of every call that needs a seat, and of every call that needs the host's (LOB-02). */
const seatErrors = [
  "auth:required",
  "auth:token_invalid",
  "lobby:token_invalid",
  "lobby:not_found",
  "lobby:player_not_found",
  "rate_limit:exceeded",
] as const satisfies ErrorCode[];
/** A key of the wrong form is refused where it is read. */
const commandErrors = [...seatErrors, "request:invalid_query"] as const satisfies ErrorCode[];
const hostErrors = [...commandErrors, "lobby:not_host"] as const satisfies ErrorCode[];

/** Shared parts of the calls of a seated player; counted per seat by the lobby itself (GW-12). */
const seatRoute = {
  auth: "seat",
  tag,
  unlimited: true,
  unknown: "lobby:not_found",
  params: s.CodeParams,
} as const;

const keyPattern = /^[\x21-\x7e]{1,128}$/;

/** A repeat with the same key answers as the first time (LOB-28); keys are stored, so they are short. */
function keyOf(request: RequestInfo): string | undefined {
  const key = request.headers["idempotency-key"];
  if (key === undefined || keyPattern.test(key)) return key;
  throw new AppError("request:invalid_query", { params: { parameter: "Idempotency-Key" } });
}

const listLobbies = defineRoute({
  method: "GET",
  path: base,
  summary: "List the public unfinished lobbies, newest first",
  tag,
  auth: "public",
  source: "document 2, Lobbies; LOB-04",
  responses: { 200: s.LobbyList },
  errors: [],
  handler: async ({ deps }) => encodedReply(200, `{"lobbies":${await deps.lobbies.listPublic()}}`),
});

const create = defineRoute({
  method: "POST",
  path: base,
  summary: "Create a lobby; the caller becomes its host",
  tag,
  auth: "player",
  source: "document 2, Lobbies; LOB-01, LOB-06, LOB-07",
  idempotent: true,
  body: s.CreateBody,
  responses: { 201: s.Created },
  errors: ["lobby:too_many"],
  handler: async ({ deps, caller, body }) => seatTaken(await createLobby(deps, caller, body)),
});

const readRoutes = ["", "/status"].map((suffix) =>
  defineRoute({
    method: "GET",
    path: `${base}/{code}${suffix}`,
    summary: suffix === "" ? "Read a lobby" : "Read a lobby when the event stream is unavailable",
    tag,
    auth: "optional_seat",
    source: "document 2, Lobbies; LOB-05",
    unknown: "lobby:not_found",
    params: s.CodeParams,
    responses: { 200: s.LobbyAndPlayer },
    errors: ["lobby:not_found"],
    handler: async ({ deps, caller, params }) =>
      encodedReply(
        200,
        (await command(deps, readCode(params.code), { type: "read", by: askerOf(caller) })) ?? "{}",
      ),
  }),
);

const join = defineRoute({
  method: "POST",
  path: `${base}/{code}/join`,
  summary: "Take a seat in a waiting lobby",
  tag,
  auth: "optional_seat",
  source: "document 2, Lobbies; LOB-01, LOB-05, LOB-06",
  unknown: "lobby:not_found",
  params: s.CodeParams,
  body: s.JoinBody,
  responses: { 201: s.Joined },
  errors: [
    "lobby:not_found",
    "lobby:not_accepting_players",
    "lobby:full",
    "lobby:name_taken",
    "lobby:banned",
  ],
  handler: async ({ deps, caller, params, body }) =>
    seatTaken(await joinLobby(deps, caller, readCode(params.code), body.name)),
});

const settings = defineRoute({
  ...seatRoute,
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
      { type: "settings", changes, by: askerOf(caller) },
      keyOf(request),
    );
    return reply(204);
  },
});

const start = defineRoute({
  ...seatRoute,
  method: "POST",
  path: `${base}/{code}/start`,
  summary: "Draw the questions and start the game",
  // Drawing may wait 20 s for new questions (LOB-24).
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

const token = defineRoute({
  ...seatRoute,
  method: "POST",
  path: `${base}/{code}/token`,
  summary: "Get the cookie that opens the lobby's event stream",
  source: "document 2, Lobbies, Authentication; HUB-02",
  responses: { 204: null },
  errors: [...seatErrors, "lobby:not_member"],
  handler: async ({ deps, caller, params, request }) => {
    const value = await hubToken(deps, caller, readCode(params.code));
    return reply(204, undefined, [
      [
        "Set-Cookie",
        stringifySetCookie({
          name: "hubAuthorization",
          value,
          httpOnly: true,
          sameSite: "lax",
          path: "/v1/hub",
          maxAge: cookieSeconds,
          secure: request.isSecure,
        }),
      ],
      ["X-Hub-Token", value],
      ["Link", '</v1/hub>; rel="hub"'],
    ]);
  },
});

const answer = defineRoute({
  ...seatRoute,
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
      by: askerOf(caller),
    };
    return encodedReply(
      200,
      (await command(deps, readCode(params.code), asked, keyOf(request))) ?? "{}",
    );
  },
});

const pick = defineRoute({
  ...seatRoute,
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
      by: askerOf(caller),
    };
    await command(deps, readCode(params.code), asked, keyOf(request));
    return reply(204);
  },
});

/** The host's calls about a question, which answer the lobby: path segment -> what they add to the common refusals. */
const hostCommands = [
  {
    type: "lock",
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
    summary: "Close the question if open and move on",
    source: "LOB-16, LOB-28",
    errors: [
      "lobby:not_in_progress",
      "lobby:too_early",
      "lobby:question_closed",
      "generator:unavailable",
    ],
  },
] as const satisfies {
  type: "lock" | "next";
  summary: string;
  source: string;
  errors: ErrorCode[];
}[];

const hostRoutes = hostCommands.map(({ type, summary, source, errors }) =>
  defineRoute({
    ...seatRoute,
    method: "POST",
    path: `${base}/{code}/${type}`,
    summary,
    source: `document 2, Lobbies; ${source}`,
    body: s.IndexBody,
    responses: { 200: s.LobbyOnly },
    errors: [...hostErrors, ...errors],
    handler: async ({ deps, caller, params, body, request }) => {
      const asked: LobbyCommand = { type, index: body.index ?? null, by: askerOf(caller) };
      return encodedReply(
        200,
        (await command(deps, readCode(params.code), asked, keyOf(request))) ?? "{}",
      );
    },
  }),
);

const end = defineRoute({
  ...seatRoute,
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
        { type: "end", by: askerOf(caller) },
        keyOf(request),
      )) ?? "{}",
    ),
});

const reveal = defineRoute({
  method: "POST",
  path: `${base}/{code}/reveal`,
  summary: "Ask for the reveal when the timer elapsed",
  tag,
  auth: "public",
  source: "document 2, Lobbies; LOB-15",
  unknown: "lobby:not_found",
  params: s.CodeParams,
  responses: { 200: s.Ok },
  errors: ["lobby:not_found"],
  handler: async ({ deps, params }) => {
    await command(deps, readCode(params.code), { type: "reveal", by: askerOf(null) });
    return reply(200, { ok: true } as const);
  },
});

const heartbeat = defineRoute({
  ...seatRoute,
  method: "POST",
  path: `${base}/{code}/heartbeat`,
  summary: "Say that the player is still there",
  source: "document 2, Lobbies; LOB-19",
  responses: { 200: s.Ok },
  errors: seatErrors,
  handler: async ({ deps, caller, params }) => {
    await command(deps, readCode(params.code), { type: "heartbeat", by: askerOf(caller) });
    return reply(200, { ok: true } as const);
  },
});

const leave = defineRoute({
  ...seatRoute,
  method: "POST",
  path: `${base}/{code}/leave`,
  summary: "Leave the lobby; the host's leaving ends it",
  source: "document 2, Lobbies",
  responses: { 204: null },
  errors: commandErrors,
  handler: async ({ deps, caller, params, request }) => {
    await command(
      deps,
      readCode(params.code),
      { type: "leave", by: askerOf(caller) },
      keyOf(request),
    );
    return reply(204);
  },
});

const kick = defineRoute({
  ...seatRoute,
  method: "DELETE",
  path: `${base}/{code}/players/{playerId}`,
  summary: "Remove a player from the lobby",
  source: "document 2, Lobbies; LOB-25",
  unknown: "lobby:player_not_found",
  params: s.PlayerParams,
  query: s.KickQuery,
  responses: { 204: null },
  errors: [...hostErrors, "lobby:host_not_removable"],
  handler: async ({ deps, caller, params, query, request }) => {
    const asked: LobbyCommand = {
      type: "kick",
      seatId: params.playerId,
      ban: query.ban ?? false,
      by: askerOf(caller),
    };
    await command(deps, readCode(params.code), asked, keyOf(request));
    return reply(204);
  },
});

export const lobbyRoutes: AnyRoute[] = [
  listLobbies,
  create,
  ...readRoutes,
  join,
  settings,
  start,
  token,
  answer,
  pick,
  ...hostRoutes,
  end,
  reveal,
  heartbeat,
  leave,
  kick,
];

/** 201 with the seat's credential in the body, a header and a cookie for this lobby alone (LOB-01). */
function seatTaken(seat: TakenSeat) {
  const cookie = stringifySetCookie({
    name: "svc_lobby",
    value: seat.token,
    httpOnly: true,
    secure: true,
    sameSite: "lax",
    path: `${base}/${seat.code}`,
    maxAge: cookieSeconds,
  });
  const headers: Headers = [
    ["Set-Cookie", cookie],
    ["X-Lobby-Token", seat.token],
  ];
  return encodedReply(201, seat.body, { headers });
}

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
