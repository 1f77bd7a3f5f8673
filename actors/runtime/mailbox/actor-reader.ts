import type { Logger } from "../../../server/platform/log/logger.ts";
import type { Origin } from "../../../server/platform/origin.ts";
import type { AnyActor, BaseState } from "../definition.ts";
import type { Placement } from "../placement/placement.ts";
import type { Connection } from "../storage/connection.ts";
import type { Commit } from "../storage/journal.ts";
import { hashText, type Keyspace } from "../storage/keys.ts";
import { loadActor } from "../storage/stored-state.ts";
import { actorOf, leaveGap, type Actor } from "./actor.ts";
import type { Mailbox } from "./mailbox.ts";

/** More than the number of events that an actor can publish within the time a failing Redis can lose. */
const maxLostEvents = 1_000;
const strides = 1_000_000;

export interface ActorReaderDeps {
  definition: AnyActor;
  keys: Keyspace;
  nodeId: string;
  redis: Connection;
  log: Logger;
  now: () => number;
  placement: Pick<Placement, "generationOf" | "isIntact">;
  nextCommitId: () => string;
  commit: (mailbox: Mailbox, change: Commit, token: string) => Promise<boolean>;
  afterRead: (code: string, state: BaseState, cause: Origin) => void;
}

/** Loads actors from Redis into their mailboxes. */
export class ActorReader {
  readonly #deps: ActorReaderDeps;
  #jumps = 0;

  constructor(deps: ActorReaderDeps) {
    this.#deps = deps;
  }

  /** Loads an actor under this token; false if that failed. */
  async read(mailbox: Mailbox, token: string): Promise<boolean> {
    const { definition, keys, redis, log, now, placement, afterRead } = this.#deps;
    const { code, shard } = mailbox;
    mailbox.isSuspect = false;
    let actor: Actor;
    let published: number;
    try {
      const stored = await loadActor(redis, keys.state(code), definition);
      actor = actorOf(definition, code, stored, now(), placement.generationOf(shard));
      published = await this.#publishedSeq(mailbox, actor.state?.seq ?? 0);
    } catch (error) {
      const reason = String(error);
      log.warn(
        { event: "actor_read_failed", [definition.kind]: code, reason },
        "actor could not be read, retrying",
      );
      return false;
    }
    if (!(await this.#skipLost(mailbox, actor, published, token))) return false;
    mailbox.actor = actor;
    mailbox.unacknowledgedSeq = 0;
    if (!actor.state) return true;
    mailbox.knownSeq = actor.state.seq;
    afterRead(code, actor.state, actor.cause);
    return true;
  }

  /** Redis may lose writes a second time, so each owner continues at a different number. */
  #jump(): number {
    const { nodeId } = this.#deps;
    return maxLostEvents * (1 + (hashText(`${nodeId} ${this.#jumps++}`) % strides));
  }

  /** Number of the last event that any client may have received. */
  async #publishedSeq(
    { shard, knownSeq, unacknowledgedSeq }: Mailbox,
    stored: number,
  ): Promise<number> {
    if (unacknowledgedSeq <= stored || (await this.#deps.placement.isIntact(shard)))
      return knownSeq;
    return Math.max(knownSeq, unacknowledgedSeq);
  }

  /**
   * Redis lost published events, or may have: their numbers are not reused, and the gap in the numbers
   * informs every client.
   */
  async #skipLost(
    mailbox: Mailbox,
    actor: Actor,
    published: number,
    token: string,
  ): Promise<boolean> {
    const { definition, log, now, placement, nextCommitId } = this.#deps;
    const { state } = actor;
    if (!state) return true;
    const generation = placement.generationOf(mailbox.shard);
    const isOlder = actor.generation < generation && !definition.isFinished(state);
    const mayLack = isOlder || mailbox.isStateBehindLog;
    const last = Math.max(published, mayLack ? state.seq + this.#jump() : 0);
    if (state.seq >= last) return true;
    const facts = { event: "actor_events_lost", [definition.kind]: mailbox.code, seq: published };
    if (mailbox.knownSeq > state.seq) log.error(facts, "Redis lost events of an actor");
    else log.warn(facts, "Redis may have lost events of an actor");
    actor.generation = generation;
    const gap = leaveGap(definition, actor, state, last, now(), nextCommitId());
    return this.#deps.commit(mailbox, gap, token);
  }
}
