import type { ActorSummary, AnyActor, HeldActor } from "../definition.ts";
import type { HeldState } from "../mailbox/mailboxes.ts";
import { shardOf } from "../storage/keys.ts";

/** The parts of a snapshot that every kind may have. */
export interface ActorView {
  seq: number;
  status?: unknown;
}

export const summaryOf = (
  code: string,
  { seq, status }: ActorView,
  deadline: number | null,
): ActorSummary => ({
  code,
  shard: shardOf(code),
  status: typeof status === "string" ? status : null,
  seq,
  deadline,
});

export const heldActors = (
  { status, nextDeadline }: AnyActor,
  held: readonly HeldState[],
  now: number,
): HeldActor[] =>
  held.map(({ code, state, lastUsed, numCommands }) => ({
    ...summaryOf(code, { seq: state.seq, status: status(state, now) }, nextDeadline(state)),
    lastUsedAt: lastUsed,
    numCommands,
  }));
