import { evolve } from "../../lobby/evolve.ts";
import type { Lobby, LobbyEvent } from "../../lobby/types.ts";
import type { Connection } from "./connection.ts";
import { lobbyKey } from "./keys.ts";
import { rememberedFrom, type Memory } from "../mailbox/memory.ts";

/**
 * How a lobby is stored: field `s` is a snapshot of version `sv`, `d:<n>` the events that led to version n
 * after it, `v` the stamp of the last commit, `k:<seat>:<slot>` remembered answers, `r` the result sheet, `g` the
 * generation of its shard in which it got its event numbers, where that is not 0.
 */
export interface StoredLobby {
  lobby: Lobby | null;
  version: number;
  /** Id of the last commit; "" without one. */
  commitId: string;
  snapshotVersion: number;
  memory: Memory;
  generation: number;
}

/** No lobby under its code. */
export const nothingStored = (): StoredLobby => ({
  lobby: null,
  version: 0,
  commitId: "",
  snapshotVersion: 0,
  memory: new Map(),
  generation: 0,
});

/**
 * A commit in one text: what the next one has to find, and what tells this one from any other; "" before the
 * first. Without an id it is that of a lobby left by a version that stored no more than the number in `v`.
 */
export function stampOf(version: number, commitId: string): string {
  if (version === 0) return "";
  return commitId === "" ? String(version) : `${version} ${commitId}`;
}

/**
 * Commits between two snapshots: bounds what a takeover has to fold. A pick in a game of eight stores 67 bytes of
 * events; the whole lobby would be 11 kB (`npm test -- test/actors/runtime/commit-size.test.ts` compares the two).
 */
export const snapshotEvery = 32;

export const generationField = "g";
export const deltaField = (version: number) => `d:${version}`;

/** Reads a lobby back; this and the fence are the whole of recovery. */
export async function loadLobby(
  redis: Pick<Connection, "hgetall">,
  code: string,
): Promise<StoredLobby> {
  const fields = await redis.hgetall(lobbyKey(code));
  const stamp = fields["v"];
  if (stamp === undefined) return nothingStored();
  const version = Number.parseInt(stamp, 10);
  const [, commitId = ""] = stamp.split(" ");
  const snapshotVersion = Number(fields["sv"] ?? 0);
  let lobby = fields["s"] === undefined ? null : (JSON.parse(fields["s"]) as Lobby);
  for (let n = snapshotVersion + 1; n <= version; n++) {
    const delta = fields[deltaField(n)];
    if (delta === undefined) throw new Error(`lobby ${code} lacks the events of version ${n}`);
    for (const event of JSON.parse(delta) as LobbyEvent[]) lobby = evolve(lobby, event);
  }
  const generation = Number(fields[generationField] ?? 0);
  return { lobby, version, commitId, snapshotVersion, memory: rememberedFrom(fields), generation };
}

interface EncodedChange {
  fields: [string, string][];
  removed: string[];
  snapshotVersion: number;
}

/** Fields of one commit: the events, or every so often a snapshot that replaces them. */
export function encodeChange(
  lobby: Lobby,
  events: LobbyEvent[],
  version: number,
  snapshotVersion: number,
): EncodedChange {
  if (version - snapshotVersion < snapshotEvery)
    return {
      fields: [[deltaField(version), JSON.stringify(events)]],
      removed: [],
      snapshotVersion,
    };
  return encodeSnapshot(lobby, version, snapshotVersion);
}

/** The whole lobby in place of the events since the last snapshot. */
export function encodeSnapshot(
  lobby: Lobby,
  version: number,
  snapshotVersion: number,
): EncodedChange {
  const removed: string[] = [];
  for (let n = snapshotVersion + 1; n < version; n++) removed.push(deltaField(n));
  return {
    fields: [
      ["s", JSON.stringify(lobby)],
      ["sv", String(version)],
    ],
    removed,
    snapshotVersion: version,
  };
}
