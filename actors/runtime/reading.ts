import type { Logger } from "../../server/core/logger.ts";
import type { Lobby } from "../lobby/types.ts";
import { actorOf, leaveGap, type Actor, type BatchRules } from "./actor.ts";
import type { Connection } from "./connection.ts";
import type { Commit } from "./journal.ts";
import type { Slot } from "./slots.ts";
import { loadLobby } from "./storage.ts";

/** Reads a lobby into its slot under this token; false when that failed. */
export type Reader = (slot: Slot, token: string) => Promise<boolean>;

export function createReader(deps: {
  redis: Connection;
  log: Logger;
  now: () => number;
  rules: BatchRules;
  nextCommitId: () => string;
  commit: (slot: Slot, change: Commit, token: string, done: (isCommitted: boolean) => void) => void;
  afterRead(lobby: Lobby): void;
}): Reader {
  /** The store lost events that were seen: numbers are not used twice, and the hole tells every reader. */
  function skipLost(slot: Slot, actor: Actor, token: string): Promise<boolean> | boolean {
    const { lobby } = actor;
    if (!lobby || lobby.seq >= slot.knownSeq) return true;
    deps.log.error({ lobby: slot.code, seq: slot.knownSeq }, "the store lost events of a lobby");
    const { context } = deps.rules;
    const id = deps.nextCommitId();
    const gap = leaveGap(actor, lobby, slot.knownSeq, deps.now(), id, context);
    return new Promise((resolve) => deps.commit(slot, gap, token, resolve));
  }

  return async (slot, token) => {
    slot.isDoubtful = false;
    let actor: Actor;
    try {
      actor = actorOf(slot.code, await loadLobby(deps.redis, slot.code), deps.now());
    } catch (error) {
      deps.log.warn({ lobby: slot.code, reason: String(error) }, "lobby could not be read");
      return false;
    }
    if (!(await skipLost(slot, actor, token))) return false;
    slot.actor = actor;
    if (!actor.lobby) return true;
    slot.knownSeq = actor.lobby.seq;
    deps.afterRead(actor.lobby);
    return true;
  };
}
