import type { LobbyCommand } from "../lobby/types.ts";

/** Commands that a repeat cannot double: their answers take no place among the remembered ones (LOB-28). */
export function isHarmlessTwice({ type }: LobbyCommand): boolean {
  return type === "heartbeat" || type === "check_seat";
}
