import type { ErrorCode } from "../../../server/platform/errors.ts";
import type { Answer, LobbyCommand, Status } from "../../lobby/types.ts";

/** The id of a command whose client has given it a key: every repeat has the same (LOB-28). */
export const keyedId = (type: LobbyCommand["type"], key: string) => `c.${type}.${key}`;

/** Commands that a repeat cannot double: their answers take no place among the remembered ones. */
export function isHarmlessTwice({ type }: LobbyCommand, answer: Answer): boolean {
  return type === "heartbeat" || type === "check_seat" || answer.type === "stale_start";
}

/**
 * Means the question of the moment, whichever it is. The repeat may meet a later one, so what the command was
 * told is remembered also when it has changed nothing (S33).
 */
export function meansCurrent(command: LobbyCommand, id: string): boolean {
  switch (command.type) {
    case "pick":
    case "answer":
    case "lock":
    case "next":
      return command.index === null && id.startsWith(keyedId(command.type, ""));
    default:
      return false;
  }
}

/** Refusals that the next question would take back; none of those that ask to try again, which the key is for. */
export function isLasting(code: ErrorCode, status: Status | undefined): boolean {
  if (code === "lobby:not_in_progress") return status === "waiting";
  return code === "lobby:question_closed" || code === "lobby:already_answered";
}
