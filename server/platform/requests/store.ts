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

/** Their share of Redis is in OPS-92. */
export const usualBounds: RequestBounds = { maxEntries: 50_000, keptMs: 86_400_000 };

/** Requests with one id, since clients choose ids; and jobs or groups of one id. */
export const maxOfRequest = 20;
/** Lists per kind: about 25 requests share one, which is small enough to be packed. */
const numLists = 2_048;
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
      entries: entries.map((entry) => {
        const { list, digest } = placeOf(entry.id);
        return [entry.kind, list, entryText(digest, entry)];
      }),
    };
    const limits = [keptMs, maxEntries, maxOfRequest, maxOfList, maxEvicted];
    await record(redis, [prefix], JSON.stringify(batch), ...limits);
  }

  async find(id: string): Promise<KeptRequests> {
    const { redis, clock, prefix } = this.#options;
    const oldest = clock.now() - this.#bounds.keptMs;
    const { list, digest } = placeOf(id);
    const read = async (kind: EntryKind) => {
      const texts = await redis.lrange(`${prefix}:${kind}:${list}`, 0, -1);
      return entriesOf(digest, texts).filter(({ atMs }) => atMs > oldest);
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

/** List of a request, and what stands for its id there: ids are of any length, and clients choose them. */
function placeOf(id: string): { list: number; digest: string } {
  const bytes = createHash("sha1").update(id).digest();
  return {
    list: bytes.readUInt32BE(0) % numLists,
    digest: bytes.subarray(4, 10).toString("base64url"),
  };
}
