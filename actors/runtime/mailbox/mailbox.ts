import type { Outcome } from "../router/outcome.ts";
import type { Timing } from "../timing.ts";
import type { Actor, Delivery } from "./actor.ts";

/** How long a handoff waits for commits in flight; the fence makes going on safe. */
const idleWaitMs = 2_000;

export interface Waiting extends Delivery {
  resolve: (outcome: Outcome) => void;
}

/** Queue and in-memory state of one actor. Invariant: an actor has at most one commit in flight. */
export interface Mailbox {
  readonly code: string;
  readonly shard: number;
  /** Dropped: the shard went away, and what still runs for it changes nothing more. */
  phase: "idle" | "working" | "dropped";
  actor: Actor | null;
  waiting: Waiting[];
  /** This many of the waiting commands are decided one by one, because the rules failed for them together. */
  isolateRemaining: number;
  /** Deadline the ticker has; never later than the actor's next one. */
  armed: number | null;
  lastUsed: number;
  onIdle: (() => void)[];
  /** Redis may have gone back behind the actor: it is read again before the next batch. */
  isSuspect: boolean;
  /** Number of the last event this process saw committed; Redis can only have less after a loss. */
  knownSeq: number;
  /** Of a commit in flight, or of one whose outcome is unknown: it may have been published. 0 without one. */
  unacknowledgedSeq: number;
  /** The log has numbers that the state does not have: that has lost more than the log. */
  isStateBehindLog: boolean;
}

export function emptyMailbox(code: string, shard: number, now: number): Mailbox {
  return {
    code,
    shard,
    phase: "idle",
    actor: null,
    waiting: [],
    isolateRemaining: 0,
    armed: null,
    lastUsed: now,
    onIdle: [],
    isSuspect: false,
    knownSeq: 0,
    unacknowledgedSeq: 0,
    isStateBehindLog: false,
  };
}

/** What is decided together: all waiting commands. */
export function takeBatch(mailbox: Mailbox): Waiting[] {
  if (mailbox.isolateRemaining > 0) {
    mailbox.isolateRemaining -= 1;
    return mailbox.waiting.splice(0, 1);
  }
  const batch = mailbox.waiting;
  mailbox.waiting = [];
  return batch;
}

/** Resolves when nothing of these mailboxes is in flight, or has been for too long. */
export function untilIdle(working: Mailbox[], timing: Timing): Promise<void> {
  const all = working.map((mailbox) => new Promise<void>((done) => mailbox.onIdle.push(done)));
  return new Promise((resolve) => {
    const cancel = timing.after(idleWaitMs, resolve);
    void Promise.all(all).then(cancel).then(resolve);
  });
}
