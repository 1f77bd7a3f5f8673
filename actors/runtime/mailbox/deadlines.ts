import { nextDeadline } from "../../lobby/deadlines.ts";
import type { Lobby } from "../../lobby/types.ts";
import type { Actor } from "./actor.ts";
import { audienceDue } from "./audience.ts";
import type { Connection } from "../storage/connection.ts";
import { dueKey, shardOf } from "../storage/keys.ts";
import type { Deliver } from "./mailbox.ts";
import { moved } from "../router/outcome.ts";
import type { Slot, Slots } from "./slots.ts";
import type { Ticker } from "./ticker.ts";

/** The deadlines of the lobbies in memory. */
export interface Deadlines {
  /** Arms the next deadline of a lobby when it is earlier than the armed one. */
  arm(slot: Slot, actor: Actor, lobby: Lobby): void;
  /** Looks at a lobby again soon, because nobody knows how its last commit ended. */
  retry(code: string): void;
  /** A deadline of the store; an armed one that is earlier stays. */
  restore(code: string, due: number): void;
  /** A deadline passed. */
  fire(code: string): void;
}

/** A timer whose command could not be carried out is tried again after this, and after the second where the rules failed. */
const retryMs = 500;
const brokenRetryMs = 10_000;
/** A result that the queue did not take is offered again after this share of the time it has waited. */
const offerAgainShare = 1 / 8;
const minOfferAgainMs = 500;
const maxOfferAgainMs = 30_000;

export function createDeadlines(deps: {
  slots: Slots;
  redis: Connection;
  ticker: Ticker;
  now: () => number;
  isOurs: (shard: number) => boolean;
  deliver: Deliver;
  afterRead: (lobby: Lobby) => void;
}): Deadlines {
  const { slots, ticker } = deps;

  function retry(code: string): void {
    ticker.arm(code, deps.now() + retryMs);
  }

  async function tick(code: string): Promise<void> {
    const outcome = await deps.deliver(code, { type: "tick" }, "tick");
    if (outcome !== moved && outcome.ok) {
      const lobby = slots.find(code)?.actor?.lobby;
      if (lobby) deps.afterRead(lobby);
    } else if (outcome !== moved && outcome.code === "lobby:not_found") {
      // The lobby expired; its timer has nothing left to watch.
      await deps.redis.zrem(dueKey(shardOf(code)), code).catch(() => 0);
    } else if (deps.isOurs(shardOf(code))) {
      // When the shard went away, its new owner has the timer.
      const isBroken = outcome !== moved && outcome.code === "server:error";
      ticker.arm(code, deps.now() + (isBroken ? brokenRetryMs : retryMs));
    }
  }

  return {
    arm(slot, actor, lobby) {
      const audience = audienceDue(actor.audience, lobby, slot.lastUsed) ?? Infinity;
      const due = Math.min(nextDeadline(lobby) ?? Infinity, audience);
      // A result was offered when its lobby ended, or just now.
      const next = lobby.isResultPending ? offerAgainAt(lobby.finishedAt ?? 0, deps.now()) : due;
      if (next === Infinity || (slot.armed !== null && slot.armed <= next)) return;
      slot.armed = next;
      ticker.arm(slot.code, next);
    },
    retry,
    restore(code, due) {
      const slot = slots.find(code);
      if (slot && slot.armed !== null && slot.armed <= due) return;
      if (slot) slot.armed = due;
      ticker.arm(code, due);
    },
    fire(code) {
      const slot = slots.find(code);
      if (slot) slot.armed = null;
      void tick(code);
    },
  };
}

function offerAgainAt(finishedAt: number, now: number): number {
  const wait = (now - finishedAt) * offerAgainShare;
  return now + Math.min(maxOfferAgainMs, Math.max(minOfferAgainMs, wait));
}
