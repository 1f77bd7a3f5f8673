import type { Logger } from "../../server/core/logger.ts";
import type { Lobby } from "../lobby/types.ts";
import { actorOf, leaveGap, type Actor, type BatchRules } from "./actor.ts";
import type { Connection } from "./connection.ts";
import { hasAllOf } from "./history.ts";
import type { Commit } from "./journal.ts";
import type { Slot } from "./slots.ts";
import { loadLobby, type StoredLobby } from "./storage.ts";

/** Reads a lobby into its slot under this token; false when that failed. */
export type Reader = (slot: Slot, token: string) => Promise<boolean>;

/** More than a lobby says in the second or two that a store may lose. */
const lostAtMost = 1_000;

export function createReader(deps: {
  redis: Connection;
  log: Logger;
  now: () => number;
  rules: BatchRules;
  nextCommitId: () => string;
  /** Whatever the store has lost, up to now nobody else can have had our shards. */
  isUnbroken: () => boolean;
  commit: (slot: Slot, change: Commit, token: string, done: (isCommitted: boolean) => void) => void;
  afterRead(lobby: Lobby): void;
}): Reader {
  /** The last number that may have been told and is lost; null when nothing is. */
  async function lostSeq(slot: Slot, seq: number, stored: StoredLobby): Promise<number | null> {
    const isKnown = slot.knownSeq > 0 && deps.isUnbroken();
    if (seq < slot.knownSeq && isKnown && !slot.isBehindLog) return slot.sentSeq;
    const { history, presentHistory } = stored;
    // A lobby of a version that did not note the history, or a store that does not tell it.
    const isUntold = history === "" || presentHistory === "";
    if (seq >= slot.knownSeq && !slot.isBehindLog) {
      if (isKnown || isUntold) return null;
      if (await hasAllOf(deps.redis, presentHistory, history)) return null;
    }
    // Nobody here knows how many there were. A lobby says less than one thing a millisecond, so what it said lies
    // below the present time, also what followed an earlier loss and was lost itself.
    return Math.max(seq + lostAtMost, slot.sentSeq, deps.now());
  }

  /** The store lost events that were seen: numbers are not used twice, and the hole tells every reader. */
  async function skipLost(
    slot: Slot,
    actor: Actor,
    stored: StoredLobby,
    token: string,
  ): Promise<boolean> {
    const { lobby } = actor;
    if (!lobby) return true;
    const lost = await lostSeq(slot, lobby.seq, stored);
    if (lost === null) return true;
    deps.log.error({ lobby: slot.code, seq: lost }, "the store may have lost events of a lobby");
    const { context } = deps.rules;
    const gap = leaveGap(actor, lobby, lost, deps.now(), deps.nextCommitId(), context);
    return new Promise((resolve) => deps.commit(slot, gap, token, resolve));
  }

  async function readInto(slot: Slot, token: string): Promise<boolean> {
    const stored = await loadLobby(deps.redis, slot.code);
    const { history, presentHistory } = stored;
    slot.newHistory = history === presentHistory ? "" : presentHistory;
    const actor = actorOf(slot.code, stored, deps.now());
    if (!(await skipLost(slot, actor, stored, token))) return false;
    slot.actor = actor;
    if (!actor.lobby) return true;
    slot.knownSeq = slot.sentSeq = actor.lobby.seq;
    deps.afterRead(actor.lobby);
    return true;
  }

  return async (slot, token) => {
    slot.isDoubtful = false;
    try {
      return await readInto(slot, token);
    } catch (error) {
      deps.log.warn({ lobby: slot.code, reason: String(error) }, "lobby could not be read");
      return false;
    }
  };
}
