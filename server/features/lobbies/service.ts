import { hash } from "node:crypto";
import { readAvatarVersion } from "../../../db/queries/avatars/avatars.ts";
import type { DrawPlan, LobbyCommand, NewSeat, Settings } from "../../../actors/index.ts";
import { AppError } from "../../platform/errors.ts";
import { recordDegraded } from "../../platform/faults/degraded.ts";
import { withPlayer } from "../../platform/origin.ts";
import { skeletonOf } from "../../platform/text/skeletons.ts";
import { withLock } from "../../platform/redis/distributed-lock.ts";
import type { LobbyDeps } from "./deps.ts";
import type { Caller, SeatCaller } from "../../http/auth/auth.ts";
import { encodedReply } from "../../http/pipeline/route.ts";
import { categoryOf } from "../questions/categories.ts";
import { drawAtOnce, drawForLobby } from "../questions/lobby-draw.ts";
import { bodyOf, codeIn, drawCodes, joinRoom, openRoom } from "../rooms/service.ts";
import { claimHosting, releaseHosting, statusOf } from "./hosting.ts";
import { base } from "./seat-route.ts";

type LobbyCaller = { seatId: number | null; playerId: number | null; cookieSeatId?: number | null };

/** Maximum redraws of a start after concurrent changes of the settings. */
const startTries = 3;
/** Id of the command that takes a seat. A seat is taken once, so the seat itself identifies a repeat (LOB-28). */
const takingId = "1";
/** Default seconds per question (LOB-07). */
export const defaultTimer = 30;

export interface CreateInput {
  hostName: string;
  category?: string | null;
  timer?: number | null;
  numQuestions?: number | null;
  visibility?: "public" | "private";
  mode?: "coop" | "versus";
  maxPlayers?: number;
  difficulty?: string | null;
  prompt?: string | null;
}

/** Identity of a lobby before it exists; a repeat of the create has the same (HTTP-15). */
export interface LobbyDraw {
  id: number;
  hostId: number;
  /** Candidate codes; the first free one is used (LOB-03). */
  codes: string[];
}

/** An invalid code names no lobby. */
export function readCode(text: string): string {
  return codeIn(text, "lobby:not_found");
}

/** The caller is identified by header, then player, then cookie (LOB-01). */
export function lobbyCallerOf(caller: SeatCaller | null): LobbyCaller {
  const seatId = caller?.seatId ?? null;
  const playerId = caller?.player?.playerId ?? null;
  return caller?.isCookieSeat
    ? { seatId: null, playerId, cookieSeatId: seatId }
    : { seatId, playerId };
}

/** Sends a command to the lobby; a refusal becomes an AppError. Returns the JSON text of the body, if any. */
export async function command(
  deps: LobbyDeps,
  code: string,
  asked: LobbyCommand,
  id?: string,
): Promise<string | null> {
  return bodyOf(await deps.lobbies.ask(code, asked, id, deps.origin), deps.config);
}

/** The response with the JSON text of a lobby's body. */
export const jsonReply = (json: string | null) => encodedReply(200, json ?? "{}");

/** Returns at once unless a new block of numbers is needed. */
export function drawLobby({ ids }: Pick<LobbyDeps, "ids">): LobbyDraw | Promise<LobbyDraw> {
  const codes = drawCodes();
  const [id, hostId] = [ids.lobby(), ids.seat()];
  if (typeof id === "number" && typeof hostId === "number") return { id, hostId, codes };
  return Promise.all([id, hostId]).then(([lobby, host]) => ({ id: lobby, hostId: host, codes }));
}

export async function createLobby(
  deps: LobbyDeps,
  caller: Caller,
  input: CreateInput,
  { id, hostId, codes }: LobbyDraw,
) {
  const settings = initialSettings(input);
  const host = await newSeat(deps, { id: hostId, name: input.hostName }, caller);
  const { LOBBY_STALE_SECONDS, LOBBY_HOST_GRACE_SECONDS, LOBBY_MIN_QUESTION_MS } = deps.config;
  const timings = {
    staleMs: LOBBY_STALE_SECONDS * 1000,
    hostGraceMs: LOBBY_HOST_GRACE_SECONDS * 1000,
    minQuestionMs: LOBBY_MIN_QUESTION_MS,
  };
  const facts = { id, realm: caller.realm, settings, maxPlayers: input.maxPlayers ?? 8, timings };
  return openRoom(
    deps,
    seatOf(host),
    codes,
    async (code) => {
      await claimHosting(deps, caller.playerId, code);
      const create = { type: "create", ...facts, code, host } as const;
      // After a failure the lobby may exist: its slot is reclaimed when slots run out.
      return deps.lobbies.ask(code, create, takingId, deps.origin);
    },
    (taken) => releaseHosting(deps, caller.playerId, taken),
  );
}

export async function joinLobby(
  deps: LobbyDeps,
  caller: SeatCaller | null,
  code: string,
  draft: Pick<NewSeat, "id" | "name">,
) {
  const seat = await newSeat(deps, draft, caller?.player ?? null);
  const join = { type: "join", seat, by: lobbyCallerOf(caller) } as const;
  const taken = await deps.lobbies.ask(code, join, takingId, deps.origin);
  return joinRoom(deps, { ...seatOf(seat), code }, taken);
}

/** The player who took the seat, as in every token; null for an anonymous seat (TOK-02). */
const seatOf = ({ id: seatId, accountId: playerId }: NewSeat) =>
  ({ kind: "lobby", base, seatId, playerId }) as const;

/**
 * Draws, then starts (LOB-24). A repeat under the same key, on any worker, waits for the start in progress: repeated
 * draws would add load when draws are slow.
 */
export async function startLobby(
  deps: LobbyDeps,
  caller: SeatCaller,
  code: string,
  id?: string,
): Promise<string | null> {
  const by = lobbyCallerOf(caller);
  const plan = await planStart(deps, by, code, id);
  if (plan === null) return startDrawn(deps, by, code, id);
  if (id === undefined) return drawAndStart(deps, code, by, plan, id);
  const turn = hash("sha256", JSON.stringify(["start", code, by, id]), "base64url");
  return withLock(deps.redis, turn, async () =>
    (await isWaiting(deps, code, by))
      ? drawAndStart(deps, code, by, plan, id)
      : startDrawn(deps, by, code, id),
  );
}

/** A repeat of the successful start gets its stored response; any other start of that lobby is refused. */
const startDrawn = (deps: LobbyDeps, by: LobbyCaller, code: string, id: string | undefined) =>
  command(deps, code, { type: "start", revision: 0, questions: [], by }, id);

/** Null when the lobby was started; its idempotency cache shows whether an earlier attempt of this command did it. */
async function planStart(
  deps: LobbyDeps,
  by: LobbyCaller,
  code: string,
  id: string | undefined,
): Promise<DrawPlan | null> {
  try {
    const plan = await command(deps, code, { type: "prepare", by }, id);
    return JSON.parse(plan ?? "null") as DrawPlan;
  } catch (error) {
    const isTaken = error instanceof AppError && error.code === "lobby:already_started";
    if (!isTaken || id === undefined || (await isWaiting(deps, code, by))) throw error;
    return null;
  }
}

async function drawAndStart(
  deps: LobbyDeps,
  code: string,
  by: LobbyCaller,
  plan: DrawPlan,
  id: string | undefined,
): Promise<string | null> {
  try {
    return await startAsPlanned(deps, code, by, plan, id);
  } catch (error) {
    // Otherwise the lobby stays in preparation until the timeout.
    await deps.lobbies.ask(code, { type: "abandon_start", by }, undefined, deps.origin);
    throw error;
  }
}

/** The question of the host's command; default: the current one (LOB-28). */
interface HostMove {
  index: number | null;
  by: LobbyCaller;
}

export const lockQuestion = async (deps: LobbyDeps, code: string, move: HostMove, id?: string) =>
  command(deps, code, { type: "lock", ...move }, id);

/**
 * Advances the game. An endless game whose next batch is late draws one at once, so that it does not wait for the
 * generator (LOB-20); the late batch is dropped.
 */
export async function nextQuestion(
  deps: LobbyDeps,
  code: string,
  move: HostMove,
  id?: string,
): Promise<string | null> {
  const reply = await deps.lobbies.ask(code, { type: "next", ...move }, id, deps.origin);
  if (reply.ok || reply.code !== "generator:unavailable") return bodyOf(reply, deps.config);
  const planned = await deps.lobbies.ask(code, { type: "plan_batch", by: move.by });
  // The next attempt gets the same refusal.
  if (planned.ok && planned.body !== null) {
    const plan = JSON.parse(planned.body) as DrawPlan;
    const questions = await drawAtOnce(deps, plan);
    const firstIndex = plan.first_index;
    const added = { type: "add_questions", firstIndex, questions } as const;
    await deps.lobbies.ask(code, added, undefined, deps.origin);
  }
  return command(deps, code, { type: "next", ...move }, id);
}

/** Draws again when the host changed the settings meanwhile (LOB-24). */
async function startAsPlanned(
  deps: LobbyDeps,
  code: string,
  by: LobbyCaller,
  firstPlan: DrawPlan,
  id: string | undefined,
): Promise<string | null> {
  let plan = firstPlan;
  for (let attempt = 0; attempt < startTries; attempt++) {
    const questions = await drawForLobby(deps, plan);
    const { revision } = plan;
    const body = await command(deps, code, { type: "start", revision, questions, by }, id);
    const stale = staleStart(body);
    if (!stale) return body;
    plan = stale;
  }
  throw new AppError("server:unavailable", { params: { retry_after: 1 } });
}

async function isWaiting(deps: LobbyDeps, code: string, by: LobbyCaller): Promise<boolean> {
  return statusOf(await command(deps, code, { type: "read", by })) === "waiting";
}

function staleStart(body: string | null): DrawPlan | null {
  if (!body?.startsWith('{"is_stale"')) return null;
  return (JSON.parse(body) as { plan: DrawPlan }).plan;
}

async function newSeat(
  deps: LobbyDeps,
  { id, name }: Pick<NewSeat, "id" | "name">,
  player: Caller | null,
): Promise<NewSeat> {
  return {
    id,
    name: name.trim(),
    nameSkeleton: skeletonOf(name),
    accountId: player?.playerId ?? null,
    avatarUrl: player ? await avatarUrlOf(deps, player) : null,
  };
}

/** The player's present avatar (AV-09). A failed read must not cost the seat: then it is the default picture. */
async function avatarUrlOf(deps: LobbyDeps, { playerId, isGuest }: Caller): Promise<string> {
  const read = () =>
    readAvatarVersion(deps.em, playerId).catch((error: unknown) => {
      recordDegraded(deps, "avatar-version", error, withPlayer(deps.origin, playerId));
      return 0;
    });
  const v = isGuest ? 0 : await read();
  return `/v1/players/${playerId}/avatar?v=${v}`;
}

function initialSettings(input: CreateInput): Settings {
  return {
    category: categoryOf(input.category ?? null, "category"),
    selected_categories: [],
    difficulty: input.difficulty ?? null,
    prompt: blankToNull(input.prompt),
    blend: false,
    review: false,
    timer: input.timer ?? defaultTimer,
    num_questions: input.numQuestions ?? null,
    visibility: input.visibility ?? "public",
    mode: input.mode ?? "coop",
  };
}

export const blankToNull = (text: string | null | undefined): string | null =>
  text?.trim() ? text : null;
