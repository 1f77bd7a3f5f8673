import type { Logger } from "../../../server/platform/log/logger.ts";
import type { Lobby } from "../../lobby/types.ts";
import { actorOf, leaveGap, type Actor, type BatchRules } from "./actor.ts";
import type { Connection } from "../storage/connection.ts";
import type { Commit } from "../storage/journal.ts";
import { hashText } from "../storage/keys.ts";
import type { Shards } from "../placement/shards.ts";
import type { Slot } from "./slots.ts";
import { loadLobby } from "../storage/storage.ts";

/** More events than one lobby can have in the moment that a store loses. */
const maxLostEvents = 1_000;
const strides = 1_000_000;

/** Reads a lobby into its slot under this token; false when that failed. */
export type Reader = (slot: Slot, token: string) => Promise<boolean>;

export function createReader(deps: {
  incarnation: string;
  redis: Connection;
  log: Logger;
  now: () => number;
  rules: BatchRules;
  placement: Pick<Shards, "generationOf" | "isWhole">;
  nextCommitId: () => string;
  commit: (slot: Slot, change: Commit, token: string) => Promise<boolean>;
  afterRead(lobby: Lobby): void;
}): Reader {
  let jumps = 0;

  /** A store may lose again what was told after a loss, so nobody goes on at the same number twice. */
  function jump(): number {
    return maxLostEvents * (1 + (hashText(`${deps.incarnation} ${jumps++}`) % strides));
  }

  /** Number of the last event that somebody can have heard of. */
  async function toldSeq({ shard, knownSeq, maybeSeq }: Slot, stored: number): Promise<number> {
    if (maybeSeq <= stored || (await deps.placement.isWhole(shard))) return knownSeq;
    return Math.max(knownSeq, maybeSeq);
  }

  /** The store lost events that were told, or may have: numbers are not used twice, and the hole tells every reader. */
  async function skipLost(slot: Slot, actor: Actor, told: number, token: string): Promise<boolean> {
    const { lobby } = actor;
    if (!lobby) return true;
    const generation = deps.placement.generationOf(slot.shard);
    const isOlder = actor.generation < generation && lobby.status !== "finished";
    const mayLack = isOlder || slot.isBehindLog;
    const last = Math.max(told, mayLack ? lobby.seq + jump() : 0);
    if (lobby.seq >= last) return true;
    const facts = { lobby: slot.code, seq: told };
    if (slot.knownSeq > lobby.seq) deps.log.error(facts, "the store lost events of a lobby");
    else deps.log.warn(facts, "the store may have lost events of a lobby");
    const { context } = deps.rules;
    const id = deps.nextCommitId();
    actor.generation = generation;
    const gap = leaveGap(actor, lobby, last, deps.now(), id, context);
    return deps.commit(slot, gap, token);
  }

  return async (slot, token) => {
    slot.isDoubtful = false;
    let actor: Actor;
    let told: number;
    try {
      const stored = await loadLobby(deps.redis, slot.code);
      actor = actorOf(slot.code, stored, deps.now(), deps.placement.generationOf(slot.shard));
      told = await toldSeq(slot, actor.lobby?.seq ?? 0);
    } catch (error) {
      deps.log.warn({ lobby: slot.code, reason: String(error) }, "lobby could not be read");
      return false;
    }
    if (!(await skipLost(slot, actor, told, token))) return false;
    slot.actor = actor;
    slot.maybeSeq = 0;
    if (!actor.lobby) return true;
    slot.knownSeq = actor.lobby.seq;
    deps.afterRead(actor.lobby);
    return true;
  };
}
