import type { MikroORM } from "@mikro-orm/postgresql";
import { listVoidFamilies } from "../../../../db/queries/accounts/address-proofs.ts";
import { listClosedSince, listUpgradedSince } from "../../../../db/queries/accounts/players.ts";
import { followAccountEvents } from "./account-events.ts";
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
/** Closing times come from several hosts: a day more covers clocks that differ or were set. */
const readBackMs = retentionMs + 86_400_000;

/** Keeps `accounts` current: from account events, and from Postgres after each gap in the subscription (TOK-11). */
export function followClosedAccounts(options: FollowOptions): { close(): void } {
  const { redisUrl, orm, clock, log, accounts } = options;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let reading = 0;
  /** Accounts reopened during a read from Postgres; null at other times. */
  let reopened: Set<number> | null = null;

  async function readAll(round: number): Promise<void> {
    const before = accounts.ids();
    const opened = (reopened = new Set<number>());
    try {
      const since = new Date(clock.now() - readBackMs);
      const bound = { since, limit: maxEntries };
      const ids = await listClosedSince(orm.em.fork(), bound);
      const upgraded = await listUpgradedSince(orm.em.fork(), bound);
      const ended = await listVoidFamilies(orm.em.fork(), bound);
      if (isStopped || round !== reading) return;
      for (const id of ended.toReversed()) accounts.addEnded(id);
      for (const id of upgraded.toReversed()) accounts.addUpgraded(id);
      // Events received during the read are newer than its result and win.
      const closed = new Set(ids);
      for (const id of before) if (!closed.has(id)) accounts.remove(id);
      for (const id of ids.toReversed()) if (!opened.has(id)) accounts.add(id);
    } catch (error) {
      if (isStopped || round !== reading) return;
      log.warn(
        { event: "closed_accounts_read_failed", reason: String(error) },
        "closed accounts not read, retrying",
      );
      timer = setTimeout(() => void readAll(round), repeatMs);
      timer.unref();
    } finally {
      if (reopened === opened) reopened = null;
    }
  }

  const subscription = followAccountEvents({
    redisUrl,
    log,
    onMessage: (item) => {
      if (item.type === "closed") {
        accounts.add(item.playerId);
        reopened?.delete(item.playerId);
      }
      if (item.type === "ended") for (const id of item.families) accounts.addEnded(id);
      if (item.type === "upgraded") accounts.addUpgraded(item.playerId);
      if (item.type === "reopened") {
        accounts.remove(item.playerId);
        reopened?.add(item.playerId);
      }
    },
    onConfirmed: () => {
      clearTimeout(timer);
      void readAll(++reading);
    },
  });
  return {
    close() {
      isStopped = true;
      clearTimeout(timer);
      subscription.close();
    },
  };
}
