import { reject } from "../rules.ts";
import { accept, nothing, wholeLobby } from "./decision.ts";
import { answer, lock, next, pick, planBatch, reveal } from "./decide-round.ts";
import { checkSeat, create, heartbeat, join, kick, leave } from "./decide-seats.ts";
import { abandonStart, addQuestions, changeSettings, prepare, start } from "./decide-start.ts";
import { tick } from "./decide-tick.ts";
import { finishedKeepMs } from "./limits.ts";
import { finish } from "./rounds.ts";
import { hostAsking, seatOf } from "./seats.ts";
import { spectate, spectatorsChanged } from "./spectators.ts";
import type { Decision, Lobby, LobbyCommand } from "./types.ts";

/**
 * Decides a command: events to commit and an answer, or a refusal. Pure; only reads `lobby`. Without a
 * lobby, every command except `create` is refused with `lobby:not_found`. A `create` for an existing lobby
 * is refused with `server:unavailable` and `params.collision`, so that the runtime picks another code.
 */
export function decide(lobby: Lobby | null, command: LobbyCommand, now: number): Decision {
  if (command.type === "create")
    return lobby ? reject("server:unavailable", { collision: true }) : create(command, now);
  if (!lobby || (isOver(lobby, now) && !upkeep.has(command.type))) return reject("lobby:not_found");
  return decideIn(lobby, command, now);
}

/** Commands with which the service completes a lobby that clients can no longer read. */
const upkeep: ReadonlySet<LobbyCommand["type"]> = new Set(["tick", "result_queued"] as const);

/** The stored lobby expires at that time; the copy in memory must not outlive it (LOB-21). */
function isOver({ finishedAt }: Lobby, now: number): boolean {
  return finishedAt !== null && now - finishedAt >= finishedKeepMs;
}

type LaterCommand = Exclude<LobbyCommand, { type: "create" }>;

/** One line per command; the rules are in the files named after their topic. */
function decideIn(lobby: Lobby, command: LaterCommand, now: number): Decision {
  switch (command.type) {
    case "read":
      return accept([], {
        type: "lobby_and_player",
        seatId: seatOf(lobby, command.by)?.id ?? null,
      });
    case "join":
      return join(lobby, command, now);
    case "check_seat":
      return checkSeat(lobby, command, now);
    case "spectate":
      return spectate(lobby);
    case "spectators":
      return accept(spectatorsChanged(lobby, command.sum ?? command.count, now), nothing);
    case "heartbeat":
      return heartbeat(lobby, command, now);
    case "leave":
      return leave(lobby, command, now);
    case "kick":
      return kick(lobby, command, now);
    case "settings":
      return changeSettings(lobby, command, now);
    case "prepare":
      return prepare(lobby, command, now);
    case "start":
      return start(lobby, command, now);
    case "abandon_start":
      return abandonStart(lobby, command, now);
    case "add_questions":
      return addQuestions(lobby, command, now);
    case "pick":
      return pick(lobby, command, now);
    case "answer":
      return answer(lobby, command, now);
    case "lock":
      return lock(lobby, command, now);
    case "next":
      return next(lobby, command, now);
    case "plan_batch":
      return planBatch(lobby, command);
    case "reveal":
      return reveal(lobby, now);
    case "end":
      if (!hostAsking(lobby, command.by)) return reject("lobby:not_host");
      return accept(endOnce(lobby, now, "host_ended"), wholeLobby);
    case "results":
      if (!hostAsking(lobby, command.by)) return reject("lobby:not_host");
      return lobby.status === "finished"
        ? accept([], { type: "sheet" })
        : reject("lobby:not_finished");
    case "operator_end":
      return accept(endOnce(lobby, now, "operator"), wholeLobby);
    case "tick":
      return tick(lobby, command, now);
    case "result_queued":
      return accept(lobby.isResultPending ? [{ type: "result_queued", at: now }] : [], nothing);
    default:
      return command satisfies never;
  }
}

/** A second end changes nothing (LOB-18). */
function endOnce(lobby: Lobby, now: number, reason: "host_ended" | "operator") {
  return lobby.status === "finished" ? [] : finish(lobby, now, reason);
}
