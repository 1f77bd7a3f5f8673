/** Commands one seat may send in a window; the lobby's owner counts, so the count is exact (GW-12). */
export interface SeatLimit {
  max: number;
  windowMs: number;
}

/** Seat -> commands of its present window, opened by the first one (GW-11). */
export type SeatCounts = Map<number, { count: number; endsAt: number }>;

/** Counts a command; the seconds to wait when it is one too many, else null. */
export function countCommand(
  counts: SeatCounts,
  seatId: number,
  now: number,
  limit: SeatLimit,
): number | null {
  const window = counts.get(seatId);
  // A window that seems to begin in the future is left over from before the clock was set back.
  if (!window || now >= window.endsAt || window.endsAt - now > limit.windowMs) {
    counts.set(seatId, { count: 1, endsAt: now + limit.windowMs });
    return null;
  }
  window.count += 1;
  return window.count > limit.max ? Math.ceil((window.endsAt - now) / 1000) : null;
}
