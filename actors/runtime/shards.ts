import type { Logger } from "../../server/core/logger.ts";
import type { Connection } from "./connection.ts";
import {
  deadChannel,
  dueKey,
  epochKey,
  mapChannel,
  ownerKey,
  shardCount,
  workersKey,
} from "./keys.ts";
import { parseOwner, wantedOwner, type Owner } from "./placement.ts";
import { runScript } from "./scripts.ts";
import type { Cancel, Timing } from "./timing.ts";

/** Timings of liveness and placement, in milliseconds (design: heartbeat the worker, fence the shard). */
export interface ShardTimings {
  heartbeatMs: number;
  /** Silence after which the others call a worker dead. */
  deadMs: number;
  /** Age of the last heartbeat up to which reads are served without asking the store. */
  freshMs: number;
  reloadMs: number;
}

export const defaultTimings: ShardTimings = {
  heartbeatMs: 500,
  deadMs: 2_000,
  freshMs: 1_500,
  reloadMs: 5_000,
};

export interface ShardHooks {
  /** A shard became ours; `timers` are its stored deadlines. */
  claimed(shard: number, timers: [code: string, due: number][]): void;
  /** Stop accepting and finish what is in flight, before the shard is released. */
  closing(shard: number): Promise<void>;
  /** The shard is no longer ours: forget its lobbies. */
  lost(shard: number): void;
  /** A worker is gone for certain: whatever waits for it must go elsewhere. */
  dead(incarnation: string): void;
}

export interface Shards {
  readonly incarnation: string;
  start(): Promise<void>;
  /** Token under which this process may commit, or null when the shard is not ours. */
  tokenOf(shard: number): string | null;
  ownerOf(shard: number): Owner | null;
  /** True when a read may be served: we are certainly still the owner. */
  confirm(shard: number): Promise<boolean> | boolean;
  /** The store refused our token: somebody else owns the shard now. */
  fenced(shard: number): void;
  /** Loads the owner map anew; calls at the same time share one load. */
  reload(): Promise<void>;
  /** The connection to the store went or came: what was certain before has to be seen anew. */
  connection(isUp: boolean): void;
  owned(): number;
  /** Messages of the `map` and `dead` channels. */
  receive(channel: string, message: string): void;
  /** Gives all shards to the others, slice by slice; the owner map is kept up to date after it. */
  handOver(): Promise<void>;
}

/** Shards given away at once: the others take over a slice while the rest goes on. */
const handOverSlice = Math.ceil(shardCount / 10);
const claimChunk = 128;
/** Changes of the owner map that come together are read together. */
const debounceMs = 5;
/** After silence of our own the others get this many heartbeats to be seen before they count as dead. */
const graceBeats = 3;
/** Deaths remembered, so that a heartbeat's late answer does not revive anyone. */
const maxDead = 1_000;
/** How long a slice waits for its new owners before the next one follows. */
const sliceWaitMs = 500;
const slicePollMs = 10;

export function createShards(deps: {
  incarnation: string;
  redis: Connection;
  log: Logger;
  hooks: ShardHooks;
  timings: ShardTimings;
  timing: Timing;
  /** The shards to share out. */
  shards: readonly number[];
}): Shards {
  const { incarnation, redis, log, hooks, timings, timing } = deps;
  const ownerKeys = deps.shards.map(ownerKey);
  const owners: (Owner | null)[] = [];
  const mine = new Map<number, string>();
  const closing = new Set<number>();
  let live = new Set<string>();
  const leaving = new Set<string>();
  const dead = new Set<string>();
  /** Until then a silent worker may just not have been heard yet: the store was away, or we were. */
  let graceUntil = Number.NEGATIVE_INFINITY;
  let connectedAt = Number.NEGATIVE_INFINITY;
  let lastHeartbeat = Number.NEGATIVE_INFINITY;
  /** Not that of the last load: callers who look for an owner load all the time. */
  let lastPlacement = 0;
  let reloading: Promise<void> | null = null;
  let isPlacing = false;
  let placeAgain = false;
  let isStopping = false;
  const timers = new Set<Cancel>();

  function lose(shard: number): void {
    closing.delete(shard);
    if (mine.delete(shard)) hooks.lost(shard);
  }

  async function isRecorded(shard: number, token: string): Promise<boolean> {
    if ((await redis.get(ownerKey(shard))) === token) return true;
    lose(shard);
    return false;
  }

  async function heartbeat(): Promise<void> {
    const sent = timing.elapsed();
    const reply = await runScript(redis, "heartbeat", [workersKey], [incarnation, timings.deadMs]);
    if (!Array.isArray(reply)) return;
    const [known, ...members] = reply as [number, ...string[]];
    const wasAlive = lastHeartbeat > 0;
    // Silent for so long that the others called us dead, or forgotten by the store: our shards may have new owners.
    const isForgotten = known === 0 && wasAlive;
    // A load of its own: one already under way may be older than this sign of life.
    if (isForgotten) await load();
    lastHeartbeat = sent;
    const before = live;
    live = new Set(members.filter((worker) => !dead.has(worker)));
    for (const worker of leaving) if (!live.has(worker)) leaving.delete(worker);
    for (const worker of before) if (!live.has(worker)) hooks.dead(worker);
    if (isForgotten) graceUntil = timing.elapsed() + graceBeats * timings.heartbeatMs;
    const hasWaited = graceUntil > 0 && timing.elapsed() >= graceUntil;
    if (hasWaited) graceUntil = Number.NEGATIVE_INFINITY;
    const changed = live.size !== before.size || [...live].some((worker) => !before.has(worker));
    const isLate = timing.elapsed() - lastPlacement >= timings.reloadMs;
    if (!changed && !hasWaited && !isForgotten && !isLate) return;
    await reload();
    // Not awaited: a hand-over may take seconds, and a worker that misses heartbeats is called dead.
    if (wasAlive) guard(place(), "place");
  }

  async function load(): Promise<void> {
    const held = new Map(mine);
    const records = await redis.mget(ownerKeys);
    deps.shards.forEach((shard, i) => {
      const record = records[i] ?? null;
      const token = mine.get(shard);
      // Claimed while the map was on its way, which on a cluster comes from several nodes.
      if (token !== undefined && token !== held.get(shard)) return;
      owners[shard] = parseOwner(record);
      if (token !== undefined && token !== record) lose(shard);
    });
  }

  function reload(): Promise<void> {
    reloading ??= load().finally(() => {
      reloading = null;
    });
    return reloading;
  }

  /** Claims what we should own and nobody alive does; gives away what another should own. */
  async function place(): Promise<void> {
    if (isStopping) return;
    if (isPlacing) {
      placeAgain = true;
      return;
    }
    isPlacing = true;
    lastPlacement = timing.elapsed();
    try {
      const workers = [...live].filter((worker) => !leaving.has(worker));
      const toClaim: number[] = [];
      const toRelease: number[] = [];
      for (const shard of deps.shards) {
        const wanted = wantedOwner(workers, shard);
        const owner = owners[shard] ?? null;
        const isFree = owner === null || isGone(owner.incarnation);
        // Owned by ourselves in the store but not in memory: left over from a claim whose answer was lost. Nobody
        // else may take it while we live, so it is claimed again or given up.
        const isOrphan = owner?.incarnation === incarnation && !mine.has(shard);
        if (wanted === incarnation && (isFree || isOrphan)) toClaim.push(shard);
        if ((mine.has(shard) || isOrphan) && wanted && wanted !== incarnation)
          toRelease.push(shard);
      }
      for (let i = 0; i < toClaim.length; i += claimChunk)
        await claim(toClaim.slice(i, i + claimChunk));
      await handOver(toRelease);
    } finally {
      isPlacing = false;
    }
    if (!placeAgain) return;
    placeAgain = false;
    await place();
  }

  function isGone(worker: string): boolean {
    if (dead.has(worker)) return true;
    return !live.has(worker) && timing.elapsed() >= graceUntil;
  }

  async function claim(shards: number[]): Promise<void> {
    if (isStopping) return;
    const replies = await Promise.all(
      shards.map((shard) =>
        runScript(
          redis,
          "claim",
          [ownerKey(shard), epochKey(shard), dueKey(shard), workersKey],
          [
            owners[shard]?.token ?? "",
            incarnation,
            timings.deadMs,
            dead.has(owners[shard]?.incarnation ?? "") ? 1 : 0,
          ],
        ),
      ),
    );
    let claimed = 0;
    shards.forEach((shard, i) => {
      const reply = replies[i];
      if (!Array.isArray(reply) || typeof reply[0] !== "string") return;
      const [token, ...due] = reply as string[];
      if (token === undefined) return;
      claimed += 1;
      owners[shard] = parseOwner(token);
      mine.set(shard, token);
      hooks.claimed(shard, pairs(due));
    });
    if (claimed > 0) await redis.publish(mapChannel, incarnation);
    if (claimed === shards.length) return;
    await reload();
    // A claim sent twice, because its first answer was lost, is refused by its own success.
    if (shards.some((shard) => !mine.has(shard) && orphanToken(shard) !== null)) placeAgain = true;
  }

  async function handOver(shards: number[]): Promise<void> {
    for (let i = 0; i < shards.length; i += handOverSlice) {
      const slice = shards.slice(i, i + handOverSlice);
      await Promise.all(slice.map(release));
      await redis.publish(mapChannel, incarnation);
      await takenOver(slice);
      // The map has moved on: who should have the rest may be another by now.
      if (placeAgain && !isStopping) return;
    }
  }

  /** Waits until others own the slice, for as long as there are others. */
  async function takenOver(slice: number[]): Promise<void> {
    const deadline = timing.elapsed() + sliceWaitMs;
    while (timing.elapsed() < deadline && hasOthers() && (isStopping || !placeAgain)) {
      const records = await redis.mget(slice.map(ownerKey));
      if (records.every((record) => record !== "")) return;
      await new Promise<void>((done) => void timing.after(slicePollMs, done));
    }
  }

  function hasOthers(): boolean {
    return [...live].some((worker) => worker !== incarnation && !leaving.has(worker));
  }

  async function release(shard: number): Promise<void> {
    const token = mine.get(shard) ?? orphanToken(shard);
    if (token === null || closing.has(shard)) return;
    closing.add(shard);
    await hooks.closing(shard);
    lose(shard);
    owners[shard] = null;
    await runScript(redis, "release", [ownerKey(shard)], [token]);
  }

  function orphanToken(shard: number): string | null {
    const owner = owners[shard] ?? null;
    return owner?.incarnation === incarnation ? owner.token : null;
  }

  function guard(work: Promise<void>, what: string): void {
    work.catch((error: unknown) => {
      if (!isStopping) log.warn({ reason: String(error), what }, "lobby placement");
    });
  }

  function every(ms: number, work: () => Promise<void>, what: string): void {
    let isRunning = false;
    const cancel = timing.every(ms, () => {
      if (isRunning) return;
      isRunning = true;
      guard(
        work().finally(() => {
          isRunning = false;
        }),
        what,
      );
    });
    timers.add(cancel);
  }

  let debounce: Cancel | null = null;
  function mapChanged(): void {
    debounce ??= timing.after(debounceMs, () => {
      debounce = null;
      guard(reload().then(place), "map");
    });
  }

  return {
    incarnation,
    async start() {
      await heartbeat();
      await place();
      every(timings.heartbeatMs, heartbeat, "heartbeat");
    },
    tokenOf: (shard) => (closing.has(shard) ? null : (mine.get(shard) ?? null)),
    ownerOf: (shard) => owners[shard] ?? null,
    confirm(shard) {
      const token = mine.get(shard);
      if (token === undefined) return false;
      const isFresh = timing.elapsed() - lastHeartbeat < timings.freshMs;
      return (isFresh && lastHeartbeat > connectedAt) || isRecorded(shard, token);
    },
    fenced(shard) {
      lose(shard);
      mapChanged();
    },
    reload,
    connection(isUp) {
      connectedAt = isUp ? timing.elapsed() : Number.POSITIVE_INFINITY;
    },
    owned: () => mine.size,
    receive(channel, message) {
      if (channel === mapChannel) {
        if (message !== incarnation) mapChanged();
        return;
      }
      if (channel !== deadChannel) return;
      const isLeaving = message.startsWith("leaving ");
      const worker = isLeaving ? message.slice("leaving ".length) : message;
      if (worker === incarnation) return;
      if (isLeaving) remember(leaving, worker);
      else {
        live.delete(worker);
        remember(dead, worker);
        hooks.dead(worker);
      }
      mapChanged();
    },
    async handOver() {
      if (isStopping) return;
      isStopping = true;
      try {
        await redis.publish(deadChannel, `leaving ${incarnation}`);
        await handOver([...mine.keys()]);
        // A claim that was on its way when the stop came.
        await handOver([...mine.keys()]);
      } catch (error) {
        log.warn({ reason: String(error) }, "lobby hand-over");
      }
      // Not before: who is silent is called dead, and its shards are taken instead of handed over.
      for (const cancel of timers) cancel();
      debounce?.();
      try {
        await redis.zrem(workersKey, incarnation);
        await redis.publish(deadChannel, incarnation);
      } catch (error) {
        log.warn({ reason: String(error) }, "lobby farewell");
      }
      for (const shard of mine.keys()) lose(shard);
    },
  };
}

function remember(names: Set<string>, name: string): void {
  names.add(name);
  const [oldest] = names;
  if (names.size > maxDead && oldest !== undefined) names.delete(oldest);
}

function pairs(flat: string[]): [string, number][] {
  const list: [string, number][] = [];
  for (let i = 0; i + 1 < flat.length; i += 2) list.push([flat[i] ?? "", Number(flat[i + 1])]);
  return list;
}
