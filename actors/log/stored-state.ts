import { formOf, isReadable } from "../../server/platform/forms.ts";
import { CachedAnswers } from "../answers.ts";
import type { AnyKind } from "../kind.ts";
import type { BaseEvent, BaseState } from "../rules.ts";
import type { Connection } from "./connection.ts";

/**
 * The stored form of a room: field `s` is a snapshot of version `sv`, `d:<n>` the later events up to
 * version n, `v` the stamp of the last commit, `k:<sender>:<slot>` cached answers, `r` the result of a
 * finished room, `g` the shard generation of its event numbers, if it is not 0, `f` the number of this form, if it
 * is not the first.
 */
export interface StoredRoom {
  state: BaseState | null;
  version: number;
  /** Id of the last commit; "" without one. */
  commitId: string;
  snapshotVersion: number;
  answers: CachedAnswers;
  generation: number;
}

/** The stored form of a room that does not exist. */
export const nothingStored = (): StoredRoom => ({
  state: null,
  version: 0,
  commitId: "",
  snapshotVersion: 0,
  answers: new CachedAnswers(),
  generation: 0,
});

/**
 * Identifies a commit; the next one expects it. "" before the first. A stamp without an id comes from a
 * version that stored only the number in `v`.
 */
export function stampOf(version: number, commitId: string): string {
  if (version === 0) return "";
  return commitId === "" ? String(version) : `${version} ${commitId}`;
}

/**
 * Commits between two snapshots, which bounds the events folded at a takeover. A pick in a game of eight
 * stores 67 bytes of events; the whole state would be 11 kB (`npm test --
 * test/actors/commit-size.test.ts` compares the two).
 */
const snapshotEvery = 32;

export const generationField = "g";
const deltaField = (version: number) => `d:${version}`;

/** Loads a room; this and the fencing token are the whole recovery. */
export async function loadRoom(
  redis: Pick<Connection, "hgetall">,
  key: string,
  kind: Pick<AnyKind, "evolve" | "messages">,
): Promise<StoredRoom> {
  const fields = await redis.hgetall(key);
  const stamp = fields["v"];
  if (stamp === undefined) return nothingStored();
  const form = formOf(fields["f"]);
  if (!isReadable("room", form)) throw new Error(`${key} has form ${form} of another release`);
  const version = Number.parseInt(stamp, 10);
  const [, commitId = ""] = stamp.split(" ");
  const snapshotVersion = Number(fields["sv"] ?? 0);
  let state = fields["s"] === undefined ? null : (JSON.parse(fields["s"]) as BaseState);
  for (let n = snapshotVersion + 1; n <= version; n++) {
    const delta = fields[deltaField(n)];
    if (delta === undefined) throw new Error(`${key} lacks the events of version ${n}`);
    for (const event of JSON.parse(delta) as BaseEvent[]) {
      const isPublished = Boolean(kind.messages[event.type]);
      state = withSeq(kind.evolve(state, event), state, isPublished);
    }
  }
  const generation = Number(fields[generationField] ?? 0);
  const answers = CachedAnswers.from(fields);
  return { state, version, commitId, snapshotVersion, answers, generation };
}

/** `next` with the number of the last published message, overriding the rules. */
export function withSeq(
  next: BaseState,
  before: BaseState | null,
  isPublished: boolean,
): BaseState {
  const seq = (before?.seq ?? 0) + (isPublished ? 1 : 0);
  // Rules that maintain the number themselves save a copy.
  return next.seq === seq ? next : { ...next, seq };
}

interface EncodedChange {
  fields: [string, string][];
  removed: string[];
  snapshotVersion: number;
}

/** Fields of one commit: its events, or periodically a snapshot that replaces them. */
export function encodeChange(
  state: BaseState,
  events: readonly BaseEvent[],
  version: number,
  snapshotVersion: number,
): EncodedChange {
  if (version - snapshotVersion < snapshotEvery)
    return {
      fields: [[deltaField(version), JSON.stringify(events)]],
      removed: [],
      snapshotVersion,
    };
  return encodeSnapshot(state, version, snapshotVersion);
}

/** The whole state, replacing the events since the last snapshot. */
export function encodeSnapshot(
  state: BaseState,
  version: number,
  snapshotVersion: number,
): EncodedChange {
  const removed: string[] = [];
  for (let n = snapshotVersion + 1; n < version; n++) removed.push(deltaField(n));
  return {
    fields: [
      ["s", JSON.stringify(state)],
      ["sv", String(version)],
    ],
    removed,
    snapshotVersion: version,
  };
}
