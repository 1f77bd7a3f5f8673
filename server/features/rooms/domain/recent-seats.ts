import type { Redis } from "ioredis";
import type {
  WithClock,
  WithFaults,
  WithOrigin,
  WithRedis,
} from "../../../platform/capabilities.ts";
import { recordDegraded } from "../../../platform/faults/degraded.ts";
import { withPlayer } from "../../../platform/origin.ts";

/** A seat that a player took in a room of any kind. */
export interface TakenSeat {
  kind: string;
  code: string;
  seatId: number;
  playerId: number;
}

export interface RecentSeat extends Omit<TakenSeat, "playerId"> {
  atMs: number;
}

/** Lists that share the seats of all players, so that their memory is bounded (OPS-92). */
const numLists = 1_024;
/** Seats in a list; the oldest ones are removed. */
export const maxSeatsInList = 80;
/** As long as the token of a seat. */
const keptSeconds = 86_400;
/** Rooms of a player that operators see. */
export const maxRecentSeats = 20;

export const seatListOf = (playerId: number): string => `room-seats:${playerId % numLists}`;

/**
 * Remembers for operators where a player took a seat (OPS-63). Nothing waits for it: without Redis the seat is missing
 * in the list, and the player has it all the same.
 */
export function rememberSeat(
  deps: WithRedis & WithClock & WithFaults & WithOrigin,
  seat: TakenSeat,
): void {
  const { redis, clock } = deps;
  const { kind, code, seatId, playerId } = seat;
  const list = seatListOf(playerId);
  redis
    .pipeline()
    .lpush(list, [playerId, kind, code, seatId, clock.now()].join(" "))
    .ltrim(list, 0, maxSeatsInList - 1)
    .expire(list, keptSeconds)
    .exec((error, results) => {
      // A pipeline succeeds even if its commands fail.
      const failed = error ?? results?.find(([each]) => each !== null)?.[0];
      if (failed) recordDegraded(deps, "recent-seats", failed, withPlayer(deps.origin, playerId));
    })
    .catch(() => undefined);
}

/** The seats that a player took last, newest first, one of each room. */
export async function readRecentSeats(redis: Redis, playerId: number): Promise<RecentSeat[]> {
  const entries = await redis.lrange(seatListOf(playerId), 0, -1);
  const seats = new Map<string, RecentSeat>();
  for (const entry of entries) {
    const [owner, kind = "", code = "", seatId, at] = entry.split(" ");
    const room = `${kind} ${code}`;
    if (owner !== String(playerId) || seats.has(room) || seats.size >= maxRecentSeats) continue;
    seats.set(room, { kind, code, seatId: Number(seatId), atMs: Number(at) });
  }
  return [...seats.values()];
}
