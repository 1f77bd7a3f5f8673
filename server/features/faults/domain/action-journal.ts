import type { Redis } from "ioredis";
import { failedJobsKeyOf } from "../../../../workers/queues.ts";
import type { ActionCounts, EndState } from "../../../../db/queries/faults/actions.ts";
import { scriptOf } from "../../../platform/redis/script.ts";
import { faultsPrefixOf } from "./fault-store.ts";

const folder = "server/features/faults/domain";
const takeSnapshot = scriptOf(`${folder}/take-snapshot.lua`);
const claimJobs = scriptOf(`${folder}/claim-jobs.lua`);
const settleJobs = scriptOf(`${folder}/settle-jobs.lua`);

/** An action that has not ended within this time is lost. */
const keptMs = 7 * 86_400_000;

/** A job of an action, and the failure after which it is retried or removed: no later one. */
export interface SnapshotJob {
  id: string;
  failedAtMs: number;
}

export interface Snapshot {
  numJobs: number;
  /** Failed jobs beyond the bound. */
  numLeftOut: number;
  oldestMs: number | null;
}

export type Outcome = "succeeded" | "failedAgain" | "removed" | "skipped";

/**
 * What an action has done, in Redis: it survives the worker that runs it. Jobs move from `todo` to `tried` before they
 * are retried, and leave `tried` with their outcome.
 */
export class ActionJournal {
  readonly #redis: Redis;
  readonly #key: string;

  constructor(redis: Redis, id: number) {
    this.#redis = redis;
    this.#key = `${faultsPrefixOf(redis)}:action:${id}`;
  }

  /** Takes the jobs of a group that have failed now. */
  take(groupId: string, queue: string, most: number): Promise<Snapshot> {
    return snapshotOf(this.#redis, { groupId, queue, most, key: this.#key, keptMs });
  }

  /** False: nothing was taken, or it has expired. */
  async isKnown(): Promise<boolean> {
    return (await this.#redis.exists(this.#counts)) > 0;
  }

  /** The next jobs, those that failed first before others. */
  next(most: number): Promise<SnapshotJob[]> {
    return this.#read(this.#todo, 0, most);
  }

  /** Jobs without an outcome, from this place on. */
  tried(from: number, most: number): Promise<SnapshotJob[]> {
    return this.#read(this.#tried, from, most);
  }

  /** Returns the ids that this run may retry. */
  async claim(ids: readonly string[]): Promise<Set<string>> {
    if (ids.length === 0) return new Set();
    const claimed = await claimJobs(this.#redis, [this.#todo, this.#tried], keptMs, ...ids);
    return new Set(claimed as string[]);
  }

  async settle(from: "todo" | "tried", outcome: Outcome, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    const key = from === "todo" ? this.#todo : this.#tried;
    await settleJobs(this.#redis, [key, this.#counts], outcome, ...ids);
  }

  async counts(): Promise<ActionCounts & { numLeft: number }> {
    const [counts, numWaiting, numLeft] = await Promise.all([
      this.#redis.hgetall(this.#counts),
      this.#redis.zcard(this.#tried),
      this.#redis.zcard(this.#todo),
    ]);
    const of = (outcome: Outcome) => Number(counts[outcome] ?? 0);
    return {
      numSucceeded: of("succeeded"),
      numFailedAgain: of("failedAgain"),
      numRemoved: of("removed"),
      numSkipped: of("skipped"),
      numWaiting,
      numLeft,
    };
  }

  /** The jobs of the trial, stored before they are retried. */
  async saveTrial(jobs: readonly SnapshotJob[]): Promise<void> {
    await this.#save("trial", JSON.stringify(jobs));
  }

  async trial(): Promise<SnapshotJob[]> {
    const text = await this.#redis.hget(this.#counts, "trial");
    return text === null ? [] : (JSON.parse(text) as SnapshotJob[]);
  }

  /** Stored before the end is written to Postgres, so that a further run only repeats that. */
  async saveEnd(state: EndState): Promise<void> {
    await this.#save("end", state);
  }

  async end(): Promise<EndState | null> {
    return (await this.#redis.hget(this.#counts, "end")) as EndState | null;
  }

  async forget(): Promise<void> {
    await this.#redis.unlink(this.#todo, this.#tried, this.#counts);
  }

  get #todo(): string {
    return `${this.#key}:todo`;
  }

  get #tried(): string {
    return `${this.#key}:tried`;
  }

  get #counts(): string {
    return `${this.#key}:counts`;
  }

  /** With the time to expire again: another run may have ended the action and removed the key. */
  async #save(field: string, text: string): Promise<void> {
    await this.#redis.multi().hset(this.#counts, field, text).pexpire(this.#counts, keptMs).exec();
  }

  async #read(key: string, from: number, most: number): Promise<SnapshotJob[]> {
    const found = await this.#redis.zrange(
      key,
      String(from),
      String(from + most - 1),
      "WITHSCORES",
    );
    const jobs: SnapshotJob[] = [];
    for (let at = 0; at < found.length; at += 2)
      jobs.push({ id: found[at] ?? "", failedAtMs: Number(found[at + 1]) });
    return jobs;
  }
}

/** Number and age of the jobs that an action would take. */
export const previewSnapshot = (
  redis: Redis,
  of: { groupId: string; queue: string; most: number },
): Promise<Snapshot> => {
  const key = `${faultsPrefixOf(redis)}:preview:${of.groupId}`;
  return snapshotOf(redis, { ...of, key, keptMs: 0 });
};

async function snapshotOf(
  redis: Redis,
  of: { groupId: string; queue: string; most: number; key: string; keptMs: number },
): Promise<Snapshot> {
  const jobs = `${faultsPrefixOf(redis)}:jobs:${of.groupId}`;
  const keys = [jobs, failedJobsKeyOf(redis, of.queue), `${of.key}:todo`, `${of.key}:counts`];
  const found = await takeSnapshot(redis, keys, of.most, of.keptMs);
  const [numJobs, numLeftOut, oldest] = found as [number, number, string];
  return { numJobs, numLeftOut, oldestMs: oldest === "" ? null : Number(oldest) };
}
