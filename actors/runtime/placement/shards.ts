import type { Logger } from "../../../server/platform/log/logger.ts";
import type { Connection } from "../storage/connection.ts";
import { createContinuity, type ContinuityHooks } from "./continuity.ts";
import { createHoldings, type HoldingHooks } from "./holdings.ts";
import type { Keyspace } from "../storage/keys.ts";
import { createLiveness, farewell, type ShardTimings } from "./liveness.ts";
import type { Owner } from "./placement.ts";
import { createPlacing } from "./placing.ts";
import type { Cancel, Timing } from "../timing.ts";

export interface ShardHooks extends HoldingHooks, ContinuityHooks {
  /** A worker is gone for certain: whatever waits for it must go elsewhere. */
  dead(incarnation: string): void;
  /** Resolves when no commit is on its way. */
  settled(): Promise<void>;
}

/** The shards of this process, and who owns the others. */
export interface ShardOwnership {
  start(): Promise<void>;
  /** Token under which this process may commit, or null when the shard is not ours. */
  tokenOf(shard: number): string | null;
  /** Grows when the store may have lost something of the shard that nobody can know; of a shard of ours. */
  generationOf(shard: number): number;
  /** The store has lost nothing of this shard of ours since it was last known to be whole. */
  isWhole(shard: number): Promise<boolean>;
  /** Whom to ask; null while nobody has it, or a worker that is dead for certain. */
  ownerOf(shard: number): Owner | null;
  /** True when a read may be served: we are certainly still the owner. */
  confirm(shard: number): Promise<boolean>;
  /** Nobody can call this worker dead yet. */
  isHeard(): boolean;
  /** The store refused this token: somebody else owns the shard now. */
  fenced(shard: number, token: string): void;
  /** Loads the owner map anew, as it is after this call; calls during a load share the next one. */
  reload(): Promise<void>;
  /** The connection to the store went or came: what was certain before has to be seen anew. */
  connection(isUp: boolean): void;
  /** Nothing listens at the store's address. */
  refused(): void;
  /** Messages are heard again, and some may have been missed. */
  resumed(): void;
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

/** Changes of the owner map that come together are read together. */
const debounceMs = 5;

export function createShards(deps: {
  incarnation: string;
  redis: Connection;
  keys: Keyspace;
  log: Logger;
  hooks: ShardHooks;
  timings: ShardTimings;
  timing: Timing;
  /** The shards to share out. */
  shards: readonly number[];
}): ShardOwnership {
  const { incarnation, redis, keys, log, hooks, timings, timing } = deps;
  const holdings = createHoldings({
    ...deps,
    hooks: {
      ...hooks,
      claimed(shard, isOutlived) {
        if (isOutlived) continuity.doubtShard(shard);
        hooks.claimed(shard, isOutlived);
      },
    },
  });
  const continuity = createContinuity({ redis, keys, holdings, hooks });
  const liveness = createLiveness({
    ...deps,
    async onForgotten(isOutlived) {
      holdings.loseAll(isOutlived);
      await hooks.settled();
    },
    onDead: (worker) => hooks.dead(worker),
  });
  const placing = createPlacing({ ...deps, holdings, liveness });
  let leaving: Promise<void> | null = null;
  let stopHeartbeats: Cancel | null = null;
  let isBeating = false;

  async function heartbeat(): Promise<void> {
    const beat = await liveness.beat();
    // After it, because whoever was forgotten has to give up what it holds before it may vouch for anything.
    if (beat) guard(continuity.look(), "history");
    // Not awaited: a look and what follows may take seconds, and a worker that misses heartbeats is called dead.
    // Of what a leaver releases a message tells, which may be missed.
    if (beat?.isNews || liveness.hasLeavers() || placing.isDue()) guard(placing.look(), "place");
  }

  function guard(work: Promise<void>, what: string): void {
    work.catch((error: unknown) => {
      if (!leaving)
        log.warn(
          { event: "rebalance_failed", reason: String(error), what },
          "shard placement failed, retrying",
        );
    });
  }

  function beatOnce(): void {
    if (isBeating) return;
    isBeating = true;
    const beat = heartbeat().finally(() => {
      isBeating = false;
    });
    guard(beat, "heartbeat");
  }

  let debounce: Cancel | null = null;
  function mapChanged(): void {
    debounce ??= timing.after(debounceMs, () => {
      debounce = null;
      guard(placing.look(), "map");
    });
  }

  return {
    async start() {
      if (leaving) return;
      await liveness.beat();
      await continuity.look();
      if (leaving) return;
      await placing.look();
      if (!leaving) stopHeartbeats = timing.every(timings.heartbeatMs, beatOnce);
    },
    tokenOf: holdings.tokenOf,
    generationOf: holdings.generationOf,
    isWhole: (shard) => continuity.isWhole(shard),
    ownerOf(shard) {
      const owner = holdings.ownerOf(shard);
      // Its connections may outlive it for a while: whatever is sent to it waits for the time-out.
      return owner === null || liveness.isDead(owner.incarnation) ? null : owner;
    },
    async confirm(shard) {
      return liveness.isFresh() ? holdings.holds(shard) : holdings.confirm(shard);
    },
    isHeard: () => liveness.isHeard(),
    fenced(shard, token) {
      holdings.lose(shard, token);
      mapChanged();
    },
    reload: holdings.reload,
    connection(isUp) {
      liveness.connection(isUp);
      if (!isUp) return;
      // A store that came back may be older than what is in memory, its deadlines too.
      continuity.doubt();
      if (stopHeartbeats) beatOnce();
      guard(holdings.readDeadlines(), "deadlines");
      mapChanged();
    },
    refused: () => liveness.refused(),
    resumed: mapChanged,
    owned: holdings.count,
    held: holdings.held,
    receive(channel, message) {
      if (channel === keys.mapChannel && message !== incarnation) mapChanged();
      if (channel !== keys.deadChannel || !liveness.hear(message)) return;
      guard(placing.place(), "death");
      mapChanged();
    },
    handOver() {
      leaving ??= leave();
      return leaving;
    },
    isLast: () => leaving !== null && !liveness.hasOthers(),
  };

  async function leave(): Promise<void> {
    placing.stop();
    // The message is heard sooner, and the heartbeats tell it to those whom it does not reach.
    await Promise.all([
      attempt(() => liveness.leave()),
      attempt(() => redis.publish(keys.deadChannel, farewell(incarnation))),
    ]);
    await attempt(() => placing.giveAll());
    // Not before: who is silent is called dead, and its shards are taken instead of handed over.
    stopHeartbeats?.();
    stopHeartbeats = null;
    debounce?.();
    // Whoever hears the farewell takes what is left at once.
    holdings.loseAll(false);
    await Promise.all([
      attempt(() => redis.zrem(keys.workers, incarnation)),
      attempt(() => redis.publish(keys.deadChannel, incarnation)),
    ]);
  }

  async function attempt(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      log.warn(
        { event: "handoff_failed", reason: String(error) },
        "shard handoff failed, continuing",
      );
    }
  }
}
