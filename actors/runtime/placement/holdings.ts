import { CoalescedTask } from "../../../server/platform/cache/coalesced-task.ts";
import type { Connection } from "../storage/connection.ts";
import type { Keyspace } from "../storage/keys.ts";
import { parseOwner, type Owner } from "./placement.ts";
import { runScript } from "../storage/scripts.ts";

export interface HoldingHooks {
  /** A shard became ours; `isOutlived`: once more, and nobody had it since it was lost. */
  claimed(shard: number, isOutlived: boolean): void;
  /** A deadline stored in a shard of ours: after its claim, and after the store was away. */
  deadline(code: string, due: number): void;
  /** Stop accepting and finish what is in flight, before the shard is released. */
  closing(shard: number): Promise<void>;
  /** The shard is no longer ours: forget its actors; `isOutlived`: but not what is known of them. */
  lost(shard: number, isOutlived: boolean): void;
  /** The owner map was read anew. */
  loaded(): void;
}

export interface Claimed {
  count: number;
  /** The first error, if there was one. */
  error: unknown;
}

/** The owner map as last seen, and the shards of it that this process holds. */
export interface Holdings {
  /** Token under which this process may commit, or null when the shard is not ours. */
  tokenOf(shard: number): string | null;
  /** Grows when the store may have lost something of the shard that nobody can know; of a shard of ours. */
  generationOf(shard: number): number;
  ownerOf(shard: number): Owner | null;
  holds(shard: number): boolean;
  held(): number[];
  count(): number;
  /**
   * Owned by ourselves in the store but not in memory: left over from a claim whose answer was lost. Nobody else
   * may take it while we live, so it is claimed again or given up.
   */
  isOrphan(shard: number): boolean;
  /** What the store counts as ours, as far as we know: held, and orphans. */
  recorded(): number[];
  /** Loads the owner map anew, as it is after this call; calls during a load share the next one. */
  reload(): Promise<void>;
  /** Takes the shards whose owners are still these; what the store failed to answer to does not stop the rest. */
  claim(seen: { shard: number; owner: Owner | null }[]): Promise<Claimed>;
  /** Ends what is in flight, then gives the shard up; when the store fails to, it is left an orphan. */
  release(shard: number): Promise<void>;
  /** Whether the store still says that the shard is ours. */
  confirm(shard: number): Promise<boolean>;
  /** Reads the stored deadlines of what is held once more. */
  readDeadlines(): Promise<void>;
  /** Forgets a shard; with a token only while it is held under this one. */
  lose(shard: number, token?: string): void;
  /** Forgets all shards; `isOutlived`: only the store can tell whether somebody else has had them. */
  loseAll(isOutlived: boolean): void;
}

export function createHoldings(deps: {
  incarnation: string;
  redis: Connection;
  keys: Keyspace;
  shards: readonly number[];
  hooks: HoldingHooks;
}): Holdings {
  const { incarnation, redis, keys: keyspace, hooks } = deps;
  const ownerKeys = deps.shards.map(keyspace.owner);
  const owners: (Owner | null)[] = [];
  const mine = new Map<number, string>();
  const closing = new Set<number>();
  const generations = new Map<number, number>();
  /** Shards lost with the store, and the tokens under which they were ours. */
  const outlived = new Map<number, string>();
  /** Claimed or given up while the map is on its way, which on a cluster comes from several nodes. */
  const changed = new Set<number>();
  const loads = new CoalescedTask(load);

  function lose(shard: number, token?: string, isOutlived = false): void {
    if (token !== undefined && mine.get(shard) !== token) return;
    closing.delete(shard);
    generations.delete(shard);
    if (mine.delete(shard)) hooks.lost(shard, isOutlived);
  }

  async function load(): Promise<void> {
    changed.clear();
    const records = await redis.mget(ownerKeys);
    deps.shards.forEach((shard, i) => {
      const record = records[i];
      // Of a node that did not answer, what was known last is as good as any.
      if (record === undefined || changed.has(shard)) return;
      const token = mine.get(shard);
      owners[shard] = parseOwner(record);
      if (token !== undefined && token !== record) lose(shard);
      // Somebody else has had it since, so what is known of it holds no more.
      if (owners[shard]?.incarnation !== incarnation && outlived.delete(shard))
        hooks.lost(shard, false);
    });
    hooks.loaded();
  }

  function orphanToken(shard: number): string | null {
    const owner = owners[shard] ?? null;
    return owner?.incarnation === incarnation && !mine.has(shard) ? owner.token : null;
  }

  function record(shard: number, owner: Owner | null): void {
    owners[shard] = owner;
    changed.add(shard);
  }

  async function take(shard: number, owner: Owner | null): Promise<boolean> {
    const { owner: ownerKey, epoch, due: dueKey, history } = keyspace;
    const keys = [ownerKey(shard), epoch(shard), dueKey(shard), history(shard)];
    const isOutlived = owner !== null && outlived.get(shard) === owner.token;
    const args = [owner?.token ?? "", incarnation, isOutlived ? 1 : 0];
    const reply = await runScript(redis, "claim", keys, args);
    if (!Array.isArray(reply) || typeof reply[0] !== "string") return false;
    const [token = "", generation, ...due] = reply as string[];
    record(shard, parseOwner(token));
    outlived.delete(shard);
    mine.set(shard, token);
    generations.set(shard, Number(generation));
    hooks.claimed(shard, isOutlived);
    tellDeadlines(due);
    return true;
  }

  /** A flat list of codes and times. */
  function tellDeadlines(due: readonly string[]): void {
    for (let i = 0; i + 1 < due.length; i += 2) hooks.deadline(due[i] ?? "", Number(due[i + 1]));
  }

  async function readDeadlines(shard: number): Promise<void> {
    const due = await redis.zrange(keyspace.due(shard), "0", "-1", "WITHSCORES");
    if (mine.has(shard)) tellDeadlines(due);
  }

  async function isRecorded(shard: number, token: string): Promise<boolean> {
    if ((await redis.get(keyspace.owner(shard))) === token) return true;
    lose(shard, token);
    return false;
  }

  return {
    tokenOf: (shard) => (closing.has(shard) ? null : (mine.get(shard) ?? null)),
    generationOf: (shard) => generations.get(shard) ?? 0,
    ownerOf: (shard) => owners[shard] ?? null,
    holds: (shard) => mine.has(shard),
    held: () => [...mine.keys()],
    count: () => mine.size,
    isOrphan: (shard) => orphanToken(shard) !== null,
    recorded: () => deps.shards.filter((shard) => mine.has(shard) || orphanToken(shard) !== null),
    reload: () => loads.run(),
    async claim(seen) {
      const ends = await Promise.allSettled(seen.map(({ shard, owner }) => take(shard, owner)));
      const failed = ends.find((end) => end.status === "rejected");
      const count = ends.filter((end) => end.status === "fulfilled" && end.value).length;
      return { count, error: failed?.reason };
    },
    async release(shard) {
      const token = mine.get(shard) ?? orphanToken(shard);
      if (token === null || closing.has(shard)) return;
      closing.add(shard);
      await hooks.closing(shard);
      // Lost and claimed again meanwhile: it is another term of office now.
      if (mine.has(shard) && mine.get(shard) !== token) return;
      lose(shard);
      record(shard, null);
      try {
        await runScript(redis, "release", [keyspace.owner(shard)], [token]);
      } catch (error) {
        owners[shard] ??= parseOwner(token);
        throw error;
      }
      // A look that came before the release.
      if (owners[shard]?.token === token) record(shard, null);
    },
    async confirm(shard) {
      const token = mine.get(shard);
      return token === undefined ? false : isRecorded(shard, token);
    },
    async readDeadlines() {
      await Promise.all([...mine.keys()].map(readDeadlines));
    },
    lose,
    loseAll(isOutlived) {
      // Told again before anything was taken, it knows no less.
      if (mine.size > 0 || !isOutlived) outlived.clear();
      for (const [shard, token] of mine) {
        if (isOutlived) outlived.set(shard, token);
        lose(shard, token, isOutlived);
      }
    },
  };
}
