/** An actor of which this process knows more than that it is stored. */
export interface SuspectActor {
  code: string;
  /** Of the last commit; null when its outcome is unknown. */
  stamp: string | null;
}

/** Learns what becomes of the shards of this process. */
export interface ShardListener {
  /**
   * A shard became ours. `isRetained`: once more, and nobody had it since it was lost. `deadlines`: those that Redis
   * has of its actors.
   */
  acquired(shard: number, isRetained: boolean, deadlines: readonly Deadline[]): void;
  /** The shard is no longer ours; `isRetained`: perhaps nobody else takes it, so what is known of its actors stays. */
  released(shard: number, isRetained: boolean): void;
  /** Redis may have gone back behind what is in memory. */
  suspect(): void;
}

/** When an actor is to be ticked. */
export interface Deadline {
  code: string;
  due: number;
}

/** The actors in the shards of this process. */
export interface ShardActors {
  /** Resolves when nothing of the shard is in flight. */
  drain(shard: number): Promise<void>;
  /** Those that were not verified since Redis may have gone back. */
  suspects(shard: number): SuspectActor[];
  /** These are in Redis as they are in memory. */
  markVerified(shard: number, codes: string[]): void;
  /** This one is not, or may not be: it is read again, and goes on behind what was lost. */
  resync(code: string): void;
  restoreDeadline(code: string, due: number): void;
}
