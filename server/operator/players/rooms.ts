import type { RecentSeat } from "../../features/rooms/domain/recent-seats.ts";
import type { HeldSeat, SeatQuestion } from "../../runtime/process-questions.ts";

/** A room in which a player has a seat. */
export interface PlayerRoom extends RecentSeat {
  /** Null: no process that owns the room answered. */
  isHeld: true | null;
}

export interface PlayerRoomsSources {
  /** Null while Redis does not respond. */
  seats(playerId: number): Promise<RecentSeat[] | null>;
  /** From each process, for the rooms it owns. */
  held(seats: readonly SeatQuestion[]): Promise<HeldSeat[][]>;
}

const keyOf = ({ kind, code, seatId }: SeatQuestion) => `${kind} ${code} ${seatId}`;

/** The rooms of a player now: the seats taken in the last day, without those that were given up (OPS-63). */
export async function roomsOfPlayer(
  { seats, held }: PlayerRoomsSources,
  playerId: number,
): Promise<PlayerRoom[] | null> {
  const recent = await seats(playerId);
  if (recent === null || recent.length === 0) return recent && [];
  const asked = recent.map(({ kind, code, seatId }) => ({ kind, code, seatId }));
  const answers = new Map((await held(asked)).flat().map((seat) => [keyOf(seat), seat.isHeld]));
  return recent.flatMap((seat) => {
    const isHeld = answers.get(keyOf(seat)) ?? null;
    return isHeld === false ? [] : [{ ...seat, isHeld }];
  });
}
