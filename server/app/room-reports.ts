import type { Instance } from "../platform/instance.ts";
import type { RoomReport } from "../runtime/ipc.ts";
import type { HeldSeat, RoomQuestion, SeatQuestion } from "../runtime/process-questions.ts";
import type { Deps } from "./deps.ts";

type WithRooms = Pick<Deps, "rooms">;

/** One room for operators, if this process is asked to read it. */
export async function reportRoom(
  { rooms, instance }: WithRooms & { instance: Pick<Instance, "id"> },
  { kind, code, reader }: RoomQuestion,
): Promise<RoomReport> {
  const hasRead = reader === null ? rooms.owns(kind, code) : reader === instance.id;
  const [room, facts] = hasRead
    ? await Promise.all([rooms.locate(kind, code), rooms.factsOf(kind, code)])
    : [null, null];
  return { process: instance.id, hasRead, room, facts };
}

/** Whether the seats exist, of the rooms that this process owns. */
export function reportSeats(
  { rooms }: WithRooms,
  seats: readonly SeatQuestion[],
): Promise<HeldSeat[]> {
  const own = seats.filter(({ kind, code }) => rooms.owns(kind, code));
  return Promise.all(
    own.map(async ({ kind, code, seatId }) => {
      const isHeld = await rooms.holdsSeat(kind, code, seatId).catch(() => null);
      return { kind, code, seatId, isHeld };
    }),
  );
}
