import type { Logger } from "../../server/platform/log/logger.ts";
import type { CommitFollower } from "../../server/platform/room-source.ts";
import type { Leases } from "../cluster/leases.ts";
import { shardOf } from "../log/keys.ts";
import type { Commit } from "../log/journal.ts";

interface Followed {
  readonly follower: CommitFollower;
  /** True if the follower currently receives its messages from here. */
  isSource: boolean;
}

/**
 * Passes the messages of a commit to their follower in this process as soon as Redis has confirmed it,
 * which saves a Redis subscription and message. Redis remains the source for all other processes, and also
 * for this one whenever the shard is lost or the outcome of a commit is unknown.
 */
export class CommitFollowers {
  readonly #log: Logger;
  readonly #leases: Leases;
  /** Shard -> code -> follower; a shard without followers has no entry. */
  readonly #shards = new Map<number, Map<string, Followed>>();

  constructor(log: Logger, leases: Leases) {
    this.#log = log;
    this.#leases = leases;
    leases.acquired.on((shard) => this.#notifyShard(shard, true));
    leases.released.on((shard) => this.#notifyShard(shard, false));
  }

  /** Registers one follower per code. Returns whether it receives its messages from here for now. */
  follow(code: string, follower: CommitFollower): boolean {
    const shard = shardOf(code);
    const followers = this.#shards.get(shard) ?? new Map<string, Followed>();
    const isSource = this.#leases.holds(shard);
    followers.set(code, { follower, isSource });
    this.#shards.set(shard, followers);
    return isSource;
  }

  unfollow(code: string): void {
    const shard = shardOf(code);
    const followers = this.#shards.get(shard);
    followers?.delete(code);
    if (followers?.size === 0) this.#shards.delete(shard);
  }

  /** Called when Redis has confirmed a commit. */
  committed({ code, seq, payloads }: Commit, shard: number): void {
    const followed = this.#shards.get(shard)?.get(code);
    if (followed === undefined) return;
    if (!followed.isSource && this.#leases.holds(shard)) this.#notify(followed, true);
    const first = seq - payloads.length + 1;
    this.#guard(followed, () =>
      payloads.forEach((payload, i) => followed.follower.onCommitted(first + i, payload)),
    );
  }

  /**
   * Called when the outcome of a commit is unknown: the follower reads from Redis until the next confirmed
   * commit.
   */
  inDoubt(code: string, shard: number): void {
    const followed = this.#shards.get(shard)?.get(code);
    if (followed) this.#notify(followed, false);
  }

  /** Redis may have lost writes: the followers compare their messages with its stream. */
  suspect(): void {
    for (const shard of this.#leases.held()) this.#notifyShard(shard, true);
  }

  #notifyShard(shard: number, isSource: boolean): void {
    for (const followed of this.#shards.get(shard)?.values() ?? [])
      this.#notify(followed, isSource);
  }

  #notify(followed: Followed, isSource: boolean): void {
    followed.isSource = isSource;
    this.#guard(followed, () => followed.follower.onSource(isSource));
  }

  /** An error in a follower does not affect the commit, whose message is in Redis. */
  #guard(followed: Followed, work: () => void): void {
    try {
      work();
    } catch (error) {
      followed.isSource = false;
      this.#log.error(
        { event: "commit_follower_failed", err: error },
        "committed event not delivered",
      );
    }
  }
}
