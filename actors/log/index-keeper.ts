import type { Leases } from "../cluster/leases.ts";
import type { Rooms } from "../rooms.ts";
import type { Router } from "../router.ts";
import type { BaseEvent, BaseState, IndexRules } from "../rules.ts";
import type { Shared } from "../shared.ts";
import type { Cancel } from "../timing.ts";
import { shardOf } from "./keys.ts";
import { RoomIndex } from "./room-index.ts";

/** Shards claimed within this time are repaired together. */
const claimedMs = 50;
/** Retry interval of a failed write; doubles each time up to the maximum. */
const retryMs = 500;
const longestRetryMs = 30_000;

export interface IndexKeeperDeps extends Pick<Shared, "kind" | "log" | "redis" | "timing"> {
  leases: Pick<Leases, "tokenOf" | "acquired">;
  rooms: Pick<Rooms, "committed" | "doubted" | "stateOf">;
  router: Pick<Router, "ask">;
}

/**
 * Keeps the public list of a kind equal to its rooms: after each commit, and by repairs where an entry may differ,
 * because entry and commit are written one after the other: the owner died in between, the index was not writable, or
 * the outcome of the commit is unknown. Each code is queued once, so the queue is bounded by the number of rooms here.
 */
export class IndexKeeper {
  readonly #deps: IndexKeeperDeps;
  readonly #index: RoomIndex;
  /** Acquired shards, whose part of the index is to be repaired. */
  readonly #claimed = new Set<number>();
  /** Rooms whose entry may be wrong. */
  readonly #queued = new Set<string>();
  #state: "idle" | "due" | "stopped" = "idle";
  #cancel: Cancel = () => undefined;
  #pauseMs = retryMs;

  constructor(rules: IndexRules<BaseState, BaseEvent>, deps: IndexKeeperDeps) {
    this.#deps = deps;
    const { redis, leases, rooms } = deps;
    this.#index = new RoomIndex(redis, rules);
    rooms.committed.on((code, state, events) => this.#update(code, state, events));
    rooms.doubted.on((code) => this.#queue(code));
    leases.acquired.on((shard) => {
      this.#claimed.add(shard);
      this.#workIn(claimedMs);
    });
  }

  /** JSON array as text, newest first. */
  read(now: number): Promise<string> {
    return this.#index.read(now);
  }

  /** The new owners of the shards repair the rest. */
  stop(): void {
    this.#state = "stopped";
    this.#cancel();
  }

  #update(code: string, state: BaseState, events: readonly BaseEvent[]): Promise<void> | null {
    const written = this.#index.update(code, state, events);
    return (
      written?.catch((error: unknown) => {
        this.#queue(code);
        throw error;
      }) ?? null
    );
  }

  #queue(code: string): void {
    this.#queued.add(code);
    this.#workIn(retryMs);
  }

  #workIn(ms: number): void {
    if (this.#state !== "idle") return;
    this.#state = "due";
    this.#cancel = this.#deps.timing.after(ms, () => void this.#work());
  }

  async #work(): Promise<void> {
    let hasFailed = false;
    const failed = (error: unknown) => {
      hasFailed = true;
      const facts = { event: "index_repair_failed", reason: String(error) };
      this.#deps.log.warn(facts, "index not repaired, retrying");
    };
    await this.#queueClaimed().catch(failed);
    for (const code of [...this.#queued]) {
      // Deleted first, since it may be queued again during the repair.
      this.#queued.delete(code);
      await this.#repair(code).catch((error: unknown) => {
        this.#queued.add(code);
        failed(error);
      });
    }
    this.#pauseMs = hasFailed ? Math.min(longestRetryMs, this.#pauseMs * 2) : retryMs;
    if (this.#state === "due") this.#state = "idle";
    if (this.#claimed.size + this.#queued.size > 0) this.#workIn(this.#pauseMs);
  }

  async #queueClaimed(): Promise<void> {
    if (this.#claimed.size === 0) return;
    const shards = new Set(this.#claimed);
    for (const code of await this.#index.codesIn(shards)) this.#queued.add(code);
    for (const shard of shards) this.#claimed.delete(shard);
  }

  /** Writes the entry of a room that is ours now. */
  async #repair(code: string): Promise<void> {
    const { kind, leases, rooms, router } = this.#deps;
    const isOurs = () => leases.tokenOf(shardOf(code)) !== null;
    if (!isOurs()) return;
    const reply = await router.ask(code, kind.read);
    if (!isOurs()) return;
    if (!reply.ok && reply.code === kind.notFound) return this.#index.remove(code);
    if (!reply.ok) throw new Error(`${code}: ${reply.code}`);
    const state = await rooms.stateOf(code);
    if (state) return this.#index.refresh(code, state);
    if (isOurs()) throw new Error(`${code}: read again`);
  }
}
