import { completedAt, idleAt } from "./decide-tick.ts";
import { answerGraceMs, revealMergeMs } from "./limits.ts";
import { openRound } from "./rounds.ts";
import type { Lobby } from "./types.ts";

/**
 * Earliest time, in milliseconds since the epoch, at which `tick` may have something to do; null when never.
 * For a finished lobby whose result is not yet queued it is the (past) time of its end: queue it now (LOB-27).
 */
export function nextDeadline(lobby: Lobby): number | null {
  if (lobby.status === "finished") return lobby.isResultPending ? lobby.finishedAt : null;
  const round = openRound(lobby);
  const times = [
    idleAt(lobby),
    completedAt(lobby),
    round ? round.endsAt + answerGraceMs : null,
    lobby.preparingUntil,
    lobby.fetchingUntil,
    lobby.hostDisconnect?.endsAt ?? null,
    lobby.isRevealPending ? lobby.lastRevealAt + revealMergeMs : null,
    ...lobby.seats.map((seat) =>
      seat.isConnected ? seat.lastSeenAt + lobby.timings.staleMs : null,
    ),
  ];
  return Math.min(...times.filter((time) => time !== null));
}
