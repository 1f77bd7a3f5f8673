import type { HeldRoom, RoomSummary } from "./contract.ts";
import type { AnyKind } from "./kind.ts";
import type { HeldState } from "./room.ts";
import { shardOf } from "./log/keys.ts";

/** The parts of a snapshot that every kind may have. */
export interface RoomView {
  seq: number;
  status?: unknown;
}

export const summaryOf = (
  code: string,
  { seq, status }: RoomView,
  deadline: number | null,
): RoomSummary => ({
  code,
  shard: shardOf(code),
  status: typeof status === "string" ? status : null,
  seq,
  deadline,
});

export const heldRooms = (
  { status, nextDeadline }: AnyKind,
  held: readonly HeldState[],
  now: number,
): HeldRoom[] =>
  held.map(({ code, state, lastUsed, numCommands }) => ({
    ...summaryOf(code, { seq: state.seq, status: status(state, now) }, nextDeadline(state)),
    lastUsedAt: lastUsed,
    numCommands,
  }));
