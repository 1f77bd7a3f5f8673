import { completedAt, idleAt } from "./decide-tick.ts";
import { answerGraceMs, revealMergeMs } from "./limits.ts";
import { openRound } from "./rounds.ts";
import type { Lobby } from "./types.ts";

/**
 * Earliest time, in milliseconds since the epoch, at which `tick` may have work; null if never. For a
 * finished lobby whose result is not queued yet it is the (past) time of its end, so that the result is
 * queued now (LOB-27).
 */
export function nextDeadline(lobby: Lobby): number | null {
  if (lobby.status === "finished") return lobby.isResultPending ? lobby.finishedAt : null;
  const { hostDisconnect, isRevealPending, seats, timings } = lobby;
  const round = openRound(lobby);
  let next = idleAt(lobby);
  next = Math.min(next, completedAt(lobby) ?? next);
  if (round) next = Math.min(next, round.endsAt + answerGraceMs);
  next = Math.min(next, lobby.preparingUntil ?? next, lobby.fetchingUntil ?? next);
  if (hostDisconnect) next = Math.min(next, hostDisconnect.endsAt);
  if (isRevealPending) next = Math.min(next, lobby.lastRevealAt + revealMergeMs);
  for (const seat of seats)
    if (seat.isConnected) next = Math.min(next, seat.lastSeenAt + timings.staleMs);
  return next;
}
