import { formOf, isReadable } from "../../server/platform/forms.ts";
import { noOrigin, type Origin } from "../../server/platform/origin.ts";
import type { Membership } from "../cluster/membership.ts";
import type { Reply } from "../contract.ts";
import type { Shared } from "../shared.ts";
import type { Cancel } from "../timing.ts";
import type { Rooms } from "../rooms.ts";
import type { BaseCommand } from "../rules.ts";
import { notOwner, unavailable, type Outcome } from "../outcome.ts";
import type { PeerLinks } from "./peer-links.ts";

/**
 * A command on its way to the owner, or its answer (null: the receiver is not the owner, or does not read the form).
 * Processes of an earlier version send no origin and ignore one.
 */
type Wire =
  | [
      kind: 0,
      requestId: number,
      from: string,
      code: string,
      command: BaseCommand,
      id: string,
      origin?: Origin | null,
      form?: number,
    ]
  | [kind: 1, requestId: number, reply: Reply | null];

/** Maximum number of commands waiting for answers of other processes; more are refused. */
const maxPending = 16_384;
/** Detects a lost message; the command id makes the repeat idempotent. */
const attemptTimeoutMs = 400;

interface PendingRequest {
  target: string;
  stopTimer: Cancel;
  resolve: (outcome: Outcome) => void;
}

export interface RemoteDeps extends Pick<
  Shared,
  "keys" | "metrics" | "nodeId" | "redis" | "timing"
> {
  /** Links to processes of the same machine; null without any: all messages go through Redis. */
  links: Pick<PeerLinks, "send" | "received" | "lost" | "drop"> | null;
  membership: Pick<Membership, "nodeDown">;
  rooms: Pick<Rooms, "deliver">;
}

/** Commands for rooms of other processes, through a link or Redis; those of one tick share one message. */
export class Remote {
  readonly #deps: RemoteDeps;
  readonly #pending = new Map<number, PendingRequest>();
  readonly #outbox = new Map<string, Wire[]>();
  readonly #answered: { inc(): void };
  readonly #moved: { inc(): void };
  #lastRequestId = 0;

  constructor(deps: RemoteDeps) {
    this.#deps = deps;
    this.#answered = deps.metrics.forward("answered");
    this.#moved = deps.metrics.forward("moved");
    const { links, membership } = deps;
    links?.received.on((message) => this.receive(message));
    links?.lost.on((target) => this.#giveUp(target));
    membership.nodeDown.on((node) => {
      links?.drop(node);
      this.#giveUp(node);
    });
  }

  get pending(): number {
    return this.#pending.size;
  }

  /** One attempt; `notOwner` if the target refuses, is gone, or does not answer in time. */
  async send(
    target: string,
    code: string,
    command: BaseCommand,
    id: string,
    origin: Origin,
  ): Promise<Outcome> {
    if (this.#pending.size >= maxPending) return unavailable;
    const requestId = ++this.#lastRequestId;
    const timedOut = () => this.#settle(requestId, notOwner);
    const stopTimer = this.#deps.timing.after(attemptTimeoutMs, timedOut);
    const wire: Wire = [0, requestId, this.#deps.nodeId, code, command, id];
    if (origin !== noOrigin) wire.push(origin);
    this.#post(target, wire);
    return new Promise((resolve) => {
      this.#pending.set(requestId, { target, stopTimer, resolve });
    });
  }

  /** Receives a message on this process's channel or from a link. */
  receive(message: string): void {
    for (const wire of JSON.parse(message) as Wire[]) void this.#handle(wire);
  }

  async stop(): Promise<void> {
    for (const requestId of this.#pending.keys()) this.#settle(requestId, notOwner);
    // Answers to others that are due in this turn are still sent.
    await this.#flush();
  }

  /** Redirects everything that waits for this process. */
  #giveUp(target: string): void {
    for (const [requestId, entry] of this.#pending)
      if (entry.target === target) this.#settle(requestId, notOwner);
  }

  #post(target: string, wire: Wire): void {
    const batch = this.#outbox.get(target);
    if (batch) {
      batch.push(wire);
      return;
    }
    if (this.#outbox.size === 0) this.#deps.timing.soon(() => void this.#flush());
    this.#outbox.set(target, [wire]);
  }

  async #flush(): Promise<void> {
    const batches = [...this.#outbox];
    this.#outbox.clear();
    await Promise.all(batches.map(([target, batch]) => this.#publish(target, batch)));
  }

  async #publish(target: string, batch: Wire[]): Promise<void> {
    const { redis, keys, links } = this.#deps;
    const text = JSON.stringify(batch);
    if (links?.send(target, text)) return;
    const receivers = await redis.publish(keys.workerChannel(target), text).catch(() => 0);
    // No receiver: the process has ended or is not connected, so do not wait for the timeout.
    if (receivers > 0) return;
    for (const wire of batch) if (wire[0] === 0) this.#settle(wire[1], notOwner);
  }

  #settle(requestId: number, outcome: Outcome): void {
    const entry = this.#pending.get(requestId);
    if (entry === undefined) return;
    this.#pending.delete(requestId);
    entry.stopTimer();
    (outcome === notOwner ? this.#moved : this.#answered).inc();
    entry.resolve(outcome);
  }

  async #handle(wire: Wire): Promise<void> {
    if (wire[0] === 1) return this.#settle(wire[1], wire[2] ?? notOwner);
    const [, requestId, from, code, command, id, origin, form] = wire;
    const isKnown = isReadable("message", formOf(form));
    const outcome = isKnown
      ? await this.#deps.rooms.deliver(code, command, id, origin ?? noOrigin)
      : notOwner;
    this.#post(from, [1, requestId, outcome === notOwner ? null : outcome]);
  }
}
