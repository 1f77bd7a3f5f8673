import type { MikroORM } from "@mikro-orm/postgresql";
import { listVoidFamilies } from "../../../../db/queries/accounts/address-proofs.ts";
import { listClosedSince, listUpgradedSince } from "../../../../db/queries/accounts/players.ts";
import { listLostIds } from "../../../../db/queries/backup/restores.ts";
import { followAccountEvents, type AccountEvent } from "./account-events.ts";
import {
  maxEntries,
  retentionMs,
  type ClosedAccounts,
} from "../../../platform/security/closed-accounts.ts";
import type { Clock } from "../../../platform/time/clock.ts";
import type { Logger } from "../../../platform/log/logger.ts";

export interface FollowOptions {
  redisUrl: string;
  orm: MikroORM;
  clock: Clock;
  log: Logger;
  accounts: ClosedAccounts;
}

const repeatMs = 1_000;
/** Tokens from before older restores have expired. */
const maxRestores = 16;
/** Closing times come from several hosts: a day more covers clocks that differ or were set. */
const readBackMs = retentionMs + 86_400_000;

/** Keeps `accounts` current: from account events, and from Postgres after each gap in the subscription (TOK-11). */
export class ClosedAccountFollower {
  readonly #options: FollowOptions;
  readonly #subscription: { close(): void };
  #isStopped = false;
  #retry: NodeJS.Timeout | undefined;
  /** Number of the last read from Postgres; the result of an earlier one is dropped. */
  #lastRead = 0;
  /** Accounts reopened during a read from Postgres; null at other times. */
  #reopened: Set<number> | null = null;

  constructor(options: FollowOptions) {
    this.#options = options;
    this.#subscription = followAccountEvents({
      ...options,
      onMessage: (event) => this.#apply(event),
      onConfirmed: () => {
        clearTimeout(this.#retry);
        void this.#readAll(++this.#lastRead);
      },
    });
  }

  close(): void {
    this.#isStopped = true;
    clearTimeout(this.#retry);
    this.#subscription.close();
  }

  #apply(event: AccountEvent): void {
    const { accounts } = this.#options;
    if (event.type === "closed") {
      accounts.add(event.playerId);
      this.#reopened?.delete(event.playerId);
    }
    if (event.type === "ended") for (const id of event.families) accounts.addEnded(id);
    if (event.type === "upgraded") accounts.addUpgraded(event.playerId);
    if (event.type === "reopened") {
      accounts.remove(event.playerId);
      this.#reopened?.add(event.playerId);
    }
  }

  async #readAll(read: number): Promise<void> {
    const { orm, clock, log, accounts } = this.#options;
    const before = accounts.ids();
    const reopened = (this.#reopened = new Set<number>());
    const isOver = () => this.#isStopped || read !== this.#lastRead;
    try {
      const since = new Date(clock.now() - readBackMs);
      const bound = { since, limit: maxEntries };
      const ids = await listClosedSince(orm.em.fork(), bound);
      const upgraded = await listUpgradedSince(orm.em.fork(), bound);
      const ended = await listVoidFamilies(orm.em.fork(), bound);
      const lost = await listLostIds(orm.em.fork(), maxRestores);
      if (isOver()) return;
      accounts.setLost(lost);
      for (const id of ended.toReversed()) accounts.addEnded(id);
      for (const id of upgraded.toReversed()) accounts.addUpgraded(id);
      // Events received during the read are newer than its result and win.
      const closed = new Set(ids);
      for (const id of before) if (!closed.has(id)) accounts.remove(id);
      for (const id of ids.toReversed()) if (!reopened.has(id)) accounts.add(id);
    } catch (error) {
      if (isOver()) return;
      const facts = { event: "closed_accounts_read_failed", reason: String(error) };
      log.warn(facts, "closed accounts not read, retrying");
      this.#retry = setTimeout(() => void this.#readAll(read), repeatMs);
      this.#retry.unref();
    } finally {
      if (this.#reopened === reopened) this.#reopened = null;
    }
  }
}
