/** An actor about which this process knows more than Redis may have stored. */
export interface SuspectActor {
  code: string;
  /** Stamp of the last commit; null if its outcome is unknown. */
  stamp: string | null;
}

/** Receives the changes of ownership of shards. */
export interface ShardListener {
  /**
   * A shard was acquired. `isRetained`: this process owned it before and nobody else has since.
   * `deadlines`: those stored in Redis for its actors.
   */
  acquired(shard: number, isRetained: boolean, deadlines: readonly Deadline[]): void;
  /**
   * A shard was released or lost. `isRetained`: perhaps no other node claims it, so the data about its
   * actors is kept.
   */
  released(shard: number, isRetained: boolean): void;
  /** Redis may be behind the state in memory. */
  suspect(): void;
}

/** When an actor has to be ticked. */
export interface Deadline {
  code: string;
  due: number;
}

/** The actors in the shards of this process. */
export interface ShardActors {
  /** Resolves when the shard has nothing in flight. */
  drain(shard: number): Promise<void>;
  /** Actors that have not been verified since Redis may have lost writes. */
  suspects(shard: number): SuspectActor[];
  /** Marks actors whose state in memory equals that in Redis. */
  markVerified(shard: number, codes: string[]): void;
  /** Marks an actor whose state may differ: it is loaded again, and continues after the lost numbers. */
  resync(code: string): void;
  restoreDeadline(code: string, due: number): void;
}
