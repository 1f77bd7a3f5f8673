import type { Origin } from "../../../server/platform/origin.ts";
import type { BaseCommand } from "../definition.ts";
import type { Outcome } from "../router/outcome.ts";
import type { Timing } from "../timing.ts";
import type { Actor, Delivery } from "./actor.ts";

/** How long a handoff waits for commits in flight; the fencing token makes it safe to continue after that. */
const idleWaitMs = 2_000;

/** Puts a command into the mailbox of an actor and resolves to its outcome. */
export type Deliver = (
  code: string,
  command: BaseCommand,
  id: string,
  origin: Origin,
) => Promise<Outcome>;

export interface Waiting extends Delivery {
  resolve: (outcome: Outcome) => void;
}

/** Queue and in-memory state of one actor. Invariant: an actor has at most one commit in flight. */
export interface Mailbox {
  readonly code: string;
  readonly shard: number;
  /** Dropped: the shard was lost; work still running for it has no effect. */
  phase: "idle" | "working" | "dropped";
  actor: Actor | null;
  waiting: Waiting[];
  /** When the first of them arrived, in milliseconds of a monotonic clock. */
  waitingSince: number;
  /** This many waiting commands are decided individually, because the rules threw for them as a batch. */
  isolateRemaining: number;
  /** The deadline in the ticker; never later than the actor's next one. */
  armed: number | null;
  lastUsed: number;
  /** Commands answered since this process opened the mailbox, ticks included and reads not. */
  numCommands: number;
  onIdle: (() => void)[];
  /** Redis may be behind the actor in memory: it is loaded again before the next batch. */
  isSuspect: boolean;
  /** Number of the last event this process saw committed; Redis is below it only after a loss. */
  knownSeq: number;
  /**
   * Last number of a commit in flight or with unknown outcome, which may have been published; 0 without
   * one.
   */
  unacknowledgedSeq: number;
  /** The stream has numbers that the state lacks: Redis lost more of the state than of the stream. */
  isStateBehindLog: boolean;
}

export function emptyMailbox(code: string, shard: number, now: number): Mailbox {
  return {
    code,
    shard,
    phase: "idle",
    actor: null,
    waiting: [],
    waitingSince: 0,
    isolateRemaining: 0,
    armed: null,
    lastUsed: now,
    numCommands: 0,
    onIdle: [],
    isSuspect: false,
    knownSeq: 0,
    unacknowledgedSeq: 0,
    isStateBehindLog: false,
  };
}

/** The commands to decide together: all waiting ones. */
export function takeBatch(mailbox: Mailbox): Waiting[] {
  if (mailbox.isolateRemaining > 0) {
    mailbox.isolateRemaining -= 1;
    return mailbox.waiting.splice(0, 1);
  }
  const batch = mailbox.waiting;
  mailbox.waiting = [];
  return batch;
}

/** Resolves when these mailboxes have nothing in flight, or after a timeout. */
export function untilIdle(working: Mailbox[], timing: Timing): Promise<void> {
  const all = working.map((mailbox) => new Promise<void>((done) => mailbox.onIdle.push(done)));
  return new Promise((resolve) => {
    const cancel = timing.after(idleWaitMs, resolve);
    void Promise.all(all).then(cancel).then(resolve);
  });
}
