import type { Metrics } from "../../../server/platform/metrics/metrics.ts";
import type { LobbyReply } from "../../contract.ts";
import type { LobbyCommand } from "../../lobby/types.ts";
import type { Connection } from "../storage/connection.ts";
import { workerChannel } from "../storage/keys.ts";
import type { Deliver } from "../mailbox/mailbox.ts";
import { moved, unavailable, type Outcome } from "./outcome.ts";
import type { Cancel, Timing } from "../timing.ts";

/** A command on its way to the owner, or its answer (null: the receiver is not the owner). */
type Wire =
  | [kind: 0, requestId: number, from: string, code: string, command: LobbyCommand, id: string]
  | [kind: 1, requestId: number, reply: LobbyReply | null];

export interface Remote {
  /** One attempt; `moved` when the target refuses, is gone, or does not answer in time. */
  send(target: string, code: string, command: LobbyCommand, id: string): Promise<Outcome>;
  /** A message on this worker's channel. */
  receive(message: string): void;
  /** Sends everything that waits for this worker elsewhere. */
  giveUp(target: string): void;
  pending(): number;
}

/** Commands of a process that wait for the answer of another one; more are refused. */
const maxPending = 16_384;
/** A lost message is found by this; the command id makes the repeat harmless. */
const attemptTimeoutMs = 400;

interface Forwarded {
  target: string;
  stopTimer: Cancel;
  resolve: (outcome: Outcome) => void;
}

export function createRemote(deps: {
  incarnation: string;
  redis: Connection;
  metrics: Metrics;
  timing: Timing;
  deliver: Deliver;
}): Remote & { stop(): Promise<void> } {
  const { timing } = deps;
  const pending = new Map<number, Forwarded>();
  let lastRequestId = 0;
  const outbox = new Map<string, Wire[]>();
  const answered = deps.metrics.lobbyForwards.labels({ outcome: "answered" });
  const lost = deps.metrics.lobbyForwards.labels({ outcome: "moved" });

  function post(target: string, wire: Wire): void {
    const batch = outbox.get(target);
    if (batch) {
      batch.push(wire);
      return;
    }
    if (outbox.size === 0) timing.soon(() => void flush());
    outbox.set(target, [wire]);
  }

  async function flush(): Promise<void> {
    const batches = [...outbox];
    outbox.clear();
    await Promise.all(batches.map(([target, batch]) => publish(target, batch)));
  }

  async function publish(target: string, batch: Wire[]): Promise<void> {
    const text = JSON.stringify(batch);
    const receivers = await deps.redis.publish(workerChannel(target), text).catch(() => 0);
    // Nobody listens: the worker is gone or not connected; do not wait for the time-out.
    if (receivers === 0) failRequests(batch);
  }

  function failRequests(batch: Wire[]): void {
    for (const wire of batch) if (wire[0] === 0) settle(wire[1], moved);
  }

  function settle(requestId: number, outcome: Outcome): void {
    const entry = pending.get(requestId);
    if (entry === undefined) return;
    pending.delete(requestId);
    entry.stopTimer();
    (outcome === moved ? lost : answered).inc();
    entry.resolve(outcome);
  }

  async function handle(wire: Wire): Promise<void> {
    if (wire[0] === 1) return settle(wire[1], wire[2] ?? moved);
    const [, requestId, from, code, command, id] = wire;
    const outcome = await deps.deliver(code, command, id);
    post(from, [1, requestId, outcome === moved ? null : outcome]);
  }

  return {
    async send(target, code, command, id) {
      if (pending.size >= maxPending) return unavailable;
      const requestId = ++lastRequestId;
      const stopTimer = timing.after(attemptTimeoutMs, () => settle(requestId, moved));
      post(target, [0, requestId, deps.incarnation, code, command, id]);
      return new Promise((resolve) => pending.set(requestId, { target, stopTimer, resolve }));
    },
    receive(message) {
      for (const wire of JSON.parse(message) as Wire[]) void handle(wire);
    },
    giveUp(target) {
      for (const [requestId, entry] of pending)
        if (entry.target === target) settle(requestId, moved);
    },
    pending: () => pending.size,
    async stop() {
      for (const requestId of pending.keys()) settle(requestId, moved);
      // The answers to others that were due in this turn are still sent.
      await flush();
    },
  };
}
