import { reject } from "../rules.ts";
import { accept, acceptFrom, nothing, wholeLobby } from "./decision.ts";
import { minPlayers, prepareLockMs } from "./limits.ts";
import { acceptable, drawCount, fetchIfLow } from "./questions.ts";
import { hostAsking } from "./seats.ts";
import type {
  CommandOf,
  Decision,
  DrawnQuestion,
  Lobby,
  LobbyEvent,
  SettingsChange,
} from "./types.ts";

const settable = [
  "selected_categories",
  "difficulty",
  "prompt",
  "blend",
  "review",
  "timer",
  "num_questions",
  "visibility",
  "mode",
] as const satisfies (keyof SettingsChange)[];

/** Copies documented fields only, whatever the caller passed (S13). */
function known(changes: SettingsChange): SettingsChange {
  const given = settable.filter((name) => changes[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, changes[name]]));
}

export function changeSettings(
  lobby: Lobby,
  command: CommandOf<"settings">,
  now: number,
): Decision {
  const host = hostAsking(lobby, command.by);
  if (!host) return reject("lobby:not_host");
  if (lobby.status !== "waiting") return reject("lobby:not_waiting");
  const changes = known(command.changes);
  if (Object.keys(changes).length === 0) return acceptFrom(lobby, host, now, [], nothing);
  return acceptFrom(lobby, host, now, [{ type: "settings_changed", at: now, changes }], nothing);
}

/** True while a start is preparing; a lock from a clock that was ahead does not count (S40). */
function isPreparing(lobby: Lobby, now: number): boolean {
  const until = lobby.preparingUntil;
  return until !== null && now < until && until - now <= prepareLockMs;
}

export function prepare(lobby: Lobby, command: CommandOf<"prepare">, now: number): Decision {
  const host = hostAsking(lobby, command.by);
  if (!host) return reject("lobby:not_host");
  if (lobby.status !== "waiting" || isPreparing(lobby, now)) return reject("lobby:already_started");
  if (lobby.seats.length < minPlayers) return reject("lobby:not_enough_players");
  return acceptFrom(lobby, host, now, [lock(now)], { type: "plan" });
}

function lock(now: number): LobbyEvent {
  return { type: "preparing", at: now, until: now + prepareLockMs };
}

export function start(lobby: Lobby, command: CommandOf<"start">, now: number): Decision {
  const host = hostAsking(lobby, command.by);
  if (!host) return reject("lobby:not_host");
  if (lobby.status !== "waiting") return reject("lobby:already_started");
  if (lobby.seats.length < minPlayers) return reject("lobby:not_enough_players");
  if (command.revision !== lobby.settingsRevision)
    return acceptFrom(lobby, host, now, [lock(now)], { type: "stale_start" });
  const questions = acceptable(lobby, command.questions);
  if (questions.length === 0) return reject("generator:unavailable");
  const started: LobbyEvent = { type: "started", at: now, questions };
  const events = [started, ...fetchIfLow(lobby, now, 0, questions.length)];
  return acceptFrom(lobby, host, now, events, wholeLobby);
}

export function abandonStart(
  lobby: Lobby,
  command: CommandOf<"abandon_start">,
  now: number,
): Decision {
  if (!hostAsking(lobby, command.by)) return reject("lobby:not_host");
  if (lobby.preparingUntil === null) return accept([], nothing);
  return accept([{ type: "prepare_abandoned", at: now }], nothing);
}

/** A late, duplicate or unrequested batch changes nothing (LOB-20). */
export function addQuestions(
  lobby: Lobby,
  command: CommandOf<"add_questions">,
  now: number,
): Decision {
  const isWanted =
    lobby.status === "in_progress" &&
    lobby.settings.num_questions === null &&
    !lobby.isExhausted &&
    command.firstIndex === lobby.questions.length &&
    drawCount(lobby) > 0;
  if (!isWanted) return accept([], nothing);
  const questions = acceptable(lobby, command.questions);
  const added: LobbyEvent = { type: "questions_added", at: now, questions };
  return accept([added, ...fetchAgain(lobby, now, questions)], nothing);
}

function fetchAgain(lobby: Lobby, now: number, added: readonly DrawnQuestion[]): LobbyEvent[] {
  if (added.length === 0 || !lobby.round) return [];
  return fetchIfLow(lobby, now, lobby.round.index, lobby.questions.length + added.length);
}
