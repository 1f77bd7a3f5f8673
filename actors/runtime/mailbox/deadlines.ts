import { noOrigin, type Origin } from "../../../server/platform/origin.ts";
import type { AnyActor, BaseState } from "../definition.ts";
import { notOwner } from "../router/outcome.ts";
import type { Connection } from "../storage/connection.ts";
import { shardOf, type Keyspace } from "../storage/keys.ts";
import type { Actor } from "./actor.ts";
import { nextRetry } from "./jobs.ts";
import type { MailboxTable } from "./mailbox-table.ts";
import type { Deliver, Mailbox } from "./mailbox.ts";
import type { Ticker } from "./ticker.ts";

/** Retry interval of a failed tick, and the longer one after an error in the rules. */
const retryMs = 500;
const brokenRetryMs = 10_000;

export interface DeadlinesDeps {
  definition: AnyActor;
  keys: Keyspace;
  table: MailboxTable;
  redis: Connection;
  ticker: Ticker;
  now: () => number;
  isOurs: (shard: number) => boolean;
  deliver: Deliver;
  afterRead: (code: string, state: BaseState, cause: Origin) => void;
}

/** The deadlines of the actors in memory. */
export class Deadlines {
  readonly #deps: DeadlinesDeps;

  constructor(deps: DeadlinesDeps) {
    this.#deps = deps;
  }

  /** Arms the next deadline of an actor when it is earlier than the armed one. */
  arm(mailbox: Mailbox, { memo }: Actor, state: BaseState): void {
    const { definition, ticker, now } = this.#deps;
    const ofMemo = definition.ephemeral?.nextDeadline(memo, state, mailbox.lastUsed) ?? Infinity;
    const due = Math.min(definition.nextDeadline(state) ?? Infinity, ofMemo);
    // A pending job has been started already, so only its retry is due.
    const next = nextRetry(definition.jobs, state, now()) ?? due;
    if (next === Infinity || (mailbox.armed !== null && mailbox.armed <= next)) return;
    mailbox.armed = next;
    ticker.arm(mailbox.code, next);
  }

  /** Ticks an actor again soon, because the outcome of its last commit is unknown. */
  retry(code: string): void {
    this.#deps.ticker.arm(code, this.#deps.now() + retryMs);
  }

  /** Restores a deadline stored in Redis; an earlier armed one stays. */
  restore(code: string, due: number): void {
    const mailbox = this.#deps.table.find(code);
    if (mailbox && mailbox.armed !== null && mailbox.armed <= due) return;
    if (mailbox) mailbox.armed = due;
    this.#deps.ticker.arm(code, due);
  }

  /** Called when a deadline has passed. */
  fire(code: string): void {
    const mailbox = this.#deps.table.find(code);
    if (mailbox) mailbox.armed = null;
    void this.#tick(code);
  }

  async #tick(code: string): Promise<void> {
    const { definition, keys, table, redis, ticker, now, isOurs, deliver, afterRead } = this.#deps;
    const outcome = await deliver(code, definition.tick, "tick", noOrigin);
    if (outcome !== notOwner && outcome.ok) {
      const actor = table.find(code)?.actor;
      if (actor?.state) afterRead(code, actor.state, actor.cause);
    } else if (outcome !== notOwner && outcome.code === definition.notFound) {
      // The actor expired, so its stored timer is obsolete.
      await redis.zrem(keys.due(shardOf(code)), code).catch(() => 0);
    } else if (isOurs(shardOf(code))) {
      // After the loss of the shard, its new owner has the timer.
      const isBroken = outcome !== notOwner && outcome.code === "server:error";
      ticker.arm(code, now() + (isBroken ? brokenRetryMs : retryMs));
    }
  }
}
