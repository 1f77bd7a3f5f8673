import type { Logger } from "../../server/core/logger.ts";
import type { Connection } from "./connection.ts";
import { createHandOver } from "./hand-over.ts";
import { createHoldings, type HoldingHooks } from "./holdings.ts";
import { deadChannel, mapChannel, workersKey } from "./keys.ts";
import { createLiveness, farewell, type ShardTimings } from "./liveness.ts";
import { wantedOwner, type Owner } from "./placement.ts";
import type { Cancel, Timing } from "./timing.ts";

export interface ShardHooks extends HoldingHooks {
  /** A worker is gone for certain: whatever waits for it must go elsewhere. */
  dead(incarnation: string): void;
}

export interface Shards {
  start(): Promise<void>;
  /** Token under which this process may commit, or null when the shard is not ours. */
  tokenOf(shard: number): string | null;
  ownerOf(shard: number): Owner | null;
  /** True when a read may be served: we are certainly still the owner. */
  confirm(shard: number): Promise<boolean> | boolean;
  /** As `Liveness` has it. */
  isUnbroken(): boolean;
  refused(): void;
  hasSeenEnd(): boolean;
  /** The store refused this token: somebody else owns the shard now. */
  fenced(shard: number, token: string): void;
  /** Loads the owner map anew; calls at the same time share one load. */
  reload(): Promise<void>;
  /** The connection to the store went or came: what was certain before has to be seen anew. */
  connection(isUp: boolean): void;
  owned(): number;
  /** The shards this process holds. */
  held(): number[];
  /** Messages of the `map` and `dead` channels. */
  receive(channel: string, message: string): void;
  /** Gives all shards to the others, slice by slice; the owner map is kept up to date after it. */
  handOver(): Promise<void>;
  /** What this process gave up has no owner, and gets none: it leaves, and so do all the others. */
  isLast(): boolean;
}

const claimChunk = 128;
/** Changes of the owner map that come together are read together. */
const debounceMs = 5;

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
  const holdings = createHoldings(deps);
  const liveness = createLiveness({
    ...deps,
    onForgotten: loseAll,
    onDead: (worker) => hooks.dead(worker),
  });
  const handOver = createHandOver({
    ...deps,
    holdings,
    hasOthers: () => liveness.hasOthers(),
    isInterrupted: () => placeAgain && !isStopping,
  });
  /** Not that of the last load: callers who look for an owner load all the time. */
  let lastPlacement = 0;
  let isPlacing = false;
  let placeAgain = false;
  let isStopping = false;
  let stopHeartbeats: Cancel = () => {};

  function loseAll(): void {
    for (const shard of holdings.held()) holdings.lose(shard);
  }

  async function heartbeat(): Promise<void> {
    const beat = await liveness.beat();
    if (!beat) return;
    const isLate = timing.elapsed() - lastPlacement >= timings.reloadMs;
    if (!beat.isNews && !isLate) return;
    await holdings.reload();
    // Not awaited: a hand-over may take seconds, and a worker that misses heartbeats is called dead.
    if (!beat.isFirst) guard(place(), "place");
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
      const { toClaim, toRelease } = plan();
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

  function plan(): { toClaim: number[]; toRelease: number[] } {
    const workers = liveness.candidates();
    const toClaim: number[] = [];
    const toRelease: number[] = [];
    for (const shard of deps.shards) {
      const wanted = wantedOwner(workers, shard);
      const owner = holdings.ownerOf(shard);
      const isFree = owner === null || liveness.isGone(owner.incarnation);
      const isOrphan = holdings.isOrphan(shard);
      if (wanted === incarnation && (isFree || isOrphan)) toClaim.push(shard);
      if ((holdings.holds(shard) || isOrphan) && wanted && wanted !== incarnation)
        toRelease.push(shard);
    }
    return { toClaim, toRelease };
  }

  /**
   * Whoever is alive by the store's clock may answer reads without asking, so nobody may write behind its back. A
   * holder that comes back to life after the look is told by its own heartbeat that it was forgotten, and gives
   * everything up before it answers again.
   */
  async function claim(shards: number[]): Promise<void> {
    // Remembered from before the look: a record written after it belongs to somebody alive.
    const seen = shards.map((shard) => {
      const owner = holdings.ownerOf(shard);
      return { shard, owner, holder: doubtful(owner) };
    });
    const living = await liveness.heardOf([...new Set(seen.flatMap(({ holder }) => holder ?? []))]);
    if (isStopping) return;
    const count = await holdings.claim(
      seen.filter(({ holder }) => holder === null || !living.has(holder)),
    );
    if (count > 0) await redis.publish(mapChannel, incarnation);
    if (count === shards.length) return;
    await holdings.reload();
    // A claim sent twice, because its first answer was lost, is refused by its own success.
    if (shards.some((shard) => holdings.isOrphan(shard))) placeAgain = true;
  }

  /** Who holds the shard and may yet be alive. */
  function doubtful(owner: Owner | null): string | null {
    if (owner === null || owner.incarnation === incarnation) return null;
    return liveness.isDead(owner.incarnation) ? null : owner.incarnation;
  }

  function guard(work: Promise<void>, what: string): void {
    work.catch((error: unknown) => {
      if (!isStopping) log.warn({ reason: String(error), what }, "lobby placement");
    });
  }

  function keepBeating(): void {
    let isBeating = false;
    stopHeartbeats = timing.every(timings.heartbeatMs, () => {
      if (isBeating) return;
      isBeating = true;
      const beat = heartbeat().finally(() => {
        isBeating = false;
      });
      guard(beat, "heartbeat");
    });
  }

  let debounce: Cancel | null = null;
  function mapChanged(): void {
    debounce ??= timing.after(debounceMs, () => {
      debounce = null;
      guard(holdings.reload().then(place), "map");
    });
  }

  return {
    async start() {
      await heartbeat();
      await place();
      keepBeating();
    },
    tokenOf: holdings.tokenOf,
    ownerOf: holdings.ownerOf,
    confirm: (shard) => (liveness.isFresh() ? holdings.holds(shard) : holdings.confirm(shard)),
    isUnbroken: liveness.isUnbroken,
    refused: liveness.refused,
    hasSeenEnd: liveness.hasSeenEnd,
    fenced(shard, token) {
      holdings.lose(shard, token);
      mapChanged();
    },
    reload: holdings.reload,
    connection(isUp) {
      liveness.connection(isUp);
      // A store that came back may be older than what is in memory, its deadlines too.
      if (isUp) guard(holdings.readDeadlines(), "deadlines");
    },
    owned: holdings.count,
    held: holdings.held,
    receive(channel, message) {
      if (channel === mapChannel && message !== incarnation) mapChanged();
      if (channel === deadChannel && liveness.hear(message)) mapChanged();
    },
    async handOver() {
      if (isStopping) return;
      isStopping = true;
      try {
        await redis.publish(deadChannel, farewell(incarnation));
        await handOver(holdings.held());
        // A claim that was on its way when the stop came.
        await handOver(holdings.held());
      } catch (error) {
        log.warn({ reason: String(error) }, "lobby hand-over");
      }
      // Not before: who is silent is called dead, and its shards are taken instead of handed over.
      stopHeartbeats();
      debounce?.();
      await sayGoodbye();
      loseAll();
    },
    isLast: () => isStopping && !liveness.hasOthers(),
  };

  async function sayGoodbye(): Promise<void> {
    try {
      await redis.zrem(workersKey, incarnation);
      await redis.publish(deadChannel, incarnation);
    } catch (error) {
      log.warn({ reason: String(error) }, "lobby farewell");
    }
  }
}
