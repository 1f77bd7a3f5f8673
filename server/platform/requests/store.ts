import { createHash } from "node:crypto";
import type { Redis } from "ioredis";
import { scriptOf } from "../redis/script.ts";
import type { Clock } from "../time/clock.ts";
import {
  entriesOf,
  entryKinds,
  entryText,
  keptGroup,
  keptJob,
  keptRequest,
  type EntryKind,
  type KeptJob,
  type KeptRequest,
} from "./entries.ts";
import type { RequestBatch, RequestBatchStore } from "./tracker.ts";

export interface RequestBounds {
  /** Of each kind: requests, jobs, failures. */
  maxEntries: number;
  keptMs: number;
}

/** Together at most 20 MiB of Redis (test/server/platform/requests/store.test.ts). */
export const usualBounds: RequestBounds = { maxEntries: 50_000, keptMs: 86_400_000 };

/** Requests with one id, since clients choose ids; and jobs or groups of one id. */
export const maxOfRequest = 20;
/** Lists per kind: about a dozen requests share one, which is small enough to be packed. */
const numLists = 4_096;
/** A client that chooses ids for one list fills that list only. */
export const maxOfList = 400;
/** More than a batch adds, so that the store shrinks after an idle day. */
const maxEvicted = 2_000;

/** What is kept of the requests with one id, oldest first. */
export interface KeptRequests {
  requests: KeptRequest[];
  jobs: KeptJob[];
  /** Groups of the failures of their work. */
  groups: string[];
  /** Requests that ended before were removed. */
  olderThanMs: number;
  /** Entries that were not kept, because too many waited in a process or had one id. */
  numDropped: number;
}

const record = scriptOf("server/platform/requests/record.lua");

export interface StoreOptions {
  redis: Redis;
  clock: Clock;
  /** Prefix of all keys, in the slot of the queues. */
  prefix: string;
  bounds?: RequestBounds | undefined;
}

/** Requests in Redis, found by their id only; the script describes the keys. */
export class RequestStore implements RequestBatchStore {
  readonly #options: StoreOptions;
  readonly #bounds: RequestBounds;

  constructor(options: StoreOptions) {
    this.#options = options;
    this.#bounds = options.bounds ?? usualBounds;
  }

  async write({ entries, ...head }: RequestBatch): Promise<void> {
    const { redis, clock, prefix } = this.#options;
    const { maxEntries, keptMs } = this.#bounds;
    const batch = {
      ...head,
      nowMs: clock.now(),
      kinds: entryKinds,
      entries: entries.map((entry) => [entry.kind, listOf(entry.id), entryText(entry)]),
    };
    const limits = [keptMs, maxEntries, maxOfRequest, maxOfList, maxEvicted];
    await record(redis, [prefix], JSON.stringify(batch), ...limits);
  }

  async find(id: string): Promise<KeptRequests> {
    const { redis, clock, prefix } = this.#options;
    const oldest = clock.now() - this.#bounds.keptMs;
    const read = async (kind: EntryKind) => {
      const texts = await redis.lrange(`${prefix}:${kind}:${listOf(id)}`, 0, -1);
      return entriesOf(id, texts).filter(({ atMs }) => atMs > oldest);
    };
    // The commands of one turn leave together.
    const [requests, jobs, groups, from, dropped] = await Promise.all([
      read("request"),
      read("job"),
      read("fault"),
      redis.hget(`${prefix}:meta`, "request_from"),
      redis.hget(`${prefix}:meta`, "dropped"),
    ]);
    return {
      requests: requests.map(keptRequest),
      jobs: jobs.map(keptJob),
      groups: [...new Set(groups.map(keptGroup))],
      olderThanMs: Math.max(oldest, Number(from ?? 0)),
      numDropped: Number(dropped ?? 0),
    };
  }
}

const listOf = (id: string): number =>
  createHash("sha1").update(id).digest().readUInt32BE(0) % numLists;
