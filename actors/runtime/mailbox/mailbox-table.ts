import type { ActorMetrics } from "../../../server/platform/metrics/actor-metrics.ts";
import type { SuspectActor } from "../placement/shard-listener.ts";
import { shardOf } from "../storage/keys.ts";
import { stampOf } from "../storage/stored-state.ts";
import { emptyMailbox, type Mailbox } from "./mailbox.ts";

/** Data retained about an actor that was evicted while Redis was unreachable. */
interface Retained extends SuspectActor {
  seq: number;
  unacknowledgedSeq: number;
}

/** Shard -> code -> mailbox; a shard without actors has no entry. */
export class MailboxTable {
  readonly #now: () => number;
  readonly #metrics: Pick<ActorMetrics, "actors">;
  readonly #onOccupied: ((isOccupied: boolean) => void) | undefined;
  readonly #shards = new Map<number, Map<string, Mailbox>>();
  readonly #retained = new Map<number, Map<string, Retained>>();
  #count = 0;

  constructor(
    now: () => number,
    metrics: Pick<ActorMetrics, "actors">,
    onOccupied?: (isOccupied: boolean) => void,
  ) {
    this.#now = now;
    this.#metrics = metrics;
    this.#onOccupied = onOccupied;
  }

  get count(): number {
    return this.#count;
  }

  find(code: string): Mailbox | undefined {
    return this.#shards.get(shardOf(code))?.get(code);
  }

  /** The mailbox of an actor, created if necessary. */
  open(code: string, shard: number): Mailbox {
    const mailboxes = this.#shards.get(shard) ?? new Map<string, Mailbox>();
    const known = mailboxes.get(code);
    if (known) return known;
    this.#shards.set(shard, mailboxes);
    const mailbox = emptyMailbox(code, shard, this.#now());
    const retained = this.#retained.get(shard)?.get(code);
    mailbox.knownSeq = retained?.seq ?? 0;
    mailbox.unacknowledgedSeq = retained?.unacknowledgedSeq ?? 0;
    this.#retained.get(shard)?.delete(code);
    mailboxes.set(code, mailbox);
    this.#setCount(this.#count + 1);
    return mailbox;
  }

  ofShard(shard: number): Mailbox[] {
    return [...(this.#shards.get(shard)?.values() ?? [])];
  }

  remove(mailbox: Mailbox): void {
    const mailboxes = this.#shards.get(mailbox.shard);
    if (mailboxes?.get(mailbox.code) !== mailbox) return;
    mailboxes.delete(mailbox.code);
    if (mailboxes.size === 0) this.#shards.delete(mailbox.shard);
    this.#setCount(this.#count - 1);
  }

  #setCount(count: number): void {
    const wasOccupied = this.#count > 0;
    this.#count = count;
    this.#metrics.actors.set(count);
    if (count > 0 !== wasOccupied) this.#onOccupied?.(count > 0);
  }

  /**
   * A node that outlives a restart of Redis keeps its last sequence numbers after eviction, until the actor is
   * opened again or the shard changes owner.
   */
  retain(shard: number): void {
    const retained = new Map(this.#retained.get(shard));
    for (const mailbox of this.ofShard(shard))
      if (hasPublished(mailbox)) retained.set(mailbox.code, retainedOf(mailbox));
    this.#retained.set(shard, retained);
  }

  dropRetained(shard: number): void {
    this.#retained.delete(shard);
  }

  /** Actors of the shard whose writes Redis may have lost. */
  suspects(shard: number): SuspectActor[] {
    const mailboxes = this.ofShard(shard).filter((one) => isUnsure(one) && hasPublished(one));
    return [...(this.#retained.get(shard)?.values() ?? []), ...mailboxes.map(retainedOf)];
  }

  /** Marks actors whose writes Redis still has. */
  markVerified(shard: number, codes: string[]): void {
    for (const code of codes) {
      const mailbox = this.#shards.get(shard)?.get(code);
      if (mailbox) mailbox.isSuspect = false;
      this.#retained.get(shard)?.delete(code);
    }
  }

  *all(): Generator<Mailbox> {
    for (const mailboxes of this.#shards.values()) yield* mailboxes.values();
  }
}

/** True if it is uncertain whether Redis has everything this process knows of the actor. */
const isUnsure = ({ isSuspect, actor, unacknowledgedSeq }: Mailbox) =>
  isSuspect || (actor === null && unacknowledgedSeq > 0);

/** True if any client may have received an event. */
const hasPublished = ({ knownSeq, unacknowledgedSeq }: Mailbox) =>
  knownSeq > 0 || unacknowledgedSeq > 0;

function retainedOf({ code, actor, phase, knownSeq, unacknowledgedSeq }: Mailbox): Retained {
  const isSettled = actor !== null && phase !== "working";
  const stamp = isSettled ? stampOf(actor.version, actor.commitId) : null;
  return { code, seq: knownSeq, unacknowledgedSeq, stamp };
}
