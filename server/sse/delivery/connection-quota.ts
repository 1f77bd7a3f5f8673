import { readFileSync } from "node:fs";
import type { Redis } from "ioredis";
import { asset } from "../../platform/assets.ts";
import { AppError } from "../../platform/errors.ts";
import { recordDegraded } from "../../platform/faults/degraded.ts";
import type { FaultRecorder } from "../../platform/faults/recorder.ts";
import { randomId } from "../../platform/ids.ts";
import type { Logger } from "../../platform/log/logger.ts";
import { noOrigin } from "../../platform/origin.ts";
import { connectRedis } from "../../platform/redis/redis.ts";
import type { HubLimits } from "./limits.ts";

/** The holder of the slots of a stream: one slot of its address and one of each of its seats. */
export interface QuotaHolder {
  /** Each with the key prefix of its kind before its number: seats of two kinds may have the same one. */
  seats: readonly string[];
  ip: string;
}

interface QuotaScripts {
  hubAcquire(keyCount: number, ...keysAndArgs: (string | number)[]): Promise<number>;
  hubRenewLease(workers: string, worker: string, leaseMs: number): Promise<number>;
}

export interface QuotaOptions {
  redisUrl: string;
  log: Logger;
  faults: FaultRecorder;
  limits: HubLimits;
  /** Streams of one address. */
  maxPerAddress: number;
}

const workersKey = "{hub}:workers";
const keysPerCommand = 256;

/**
 * Connection quota: limits open streams per seat and per address over all processes that share the Redis (HUB-07).
 * Each process stores its counts under its own worker id and renews a lease; the slots of a killed process expire
 * with it. A process that lost its lease registers again under a new id with its actual counts. While Redis is
 * down each process enforces the quota locally.
 */
export class ConnectionQuota {
  readonly #limits: HubLimits;
  readonly #maxPerAddress: number;
  readonly #log: Logger;
  readonly #faults: FaultRecorder;
  readonly #redis: Redis & QuotaScripts;
  readonly #counts = new Map<string, number>();
  /** Runs while there are counts: a lease without any may expire. */
  #timer: NodeJS.Timeout | null = null;
  #isStopped = false;
  #total = 0;
  #worker = randomId();
  /** The counts in Redis may differ from ours. */
  #isStale = true;
  #registering: Promise<void> | null = null;
  #awayUntil = 0;

  constructor({ redisUrl, log, faults, limits, maxPerAddress }: QuotaOptions) {
    this.#limits = limits;
    this.#maxPerAddress = maxPerAddress;
    this.#log = log;
    this.#faults = faults;
    this.#redis = withScripts(
      connectRedis(redisUrl, log, "hub-places", { commandTimeout: limits.quotaTimeoutMs }),
    );
    this.#redis.on("ready", () => this.#attempt(this.#reregister()));
  }

  /** Throws `rate_limit:exceeded`, or `server:unavailable` when the process is full. */
  async acquire(holder: QuotaHolder): Promise<void> {
    const params = { retry_after: this.#limits.retryAfterSeconds };
    if (this.#total >= this.#limits.maxStreams)
      throw new AppError("server:unavailable", { params });
    const keys = this.#keysOf(holder);
    const isFull = keys.some((key) => this.#countOf(key) >= this.#limitOf(key));
    if (isFull) throw new AppError("rate_limit:exceeded", { params });
    this.#add(keys, 1);
    if (await this.#acquireShared(keys)) return;
    this.release(holder);
    throw new AppError("rate_limit:exceeded", { params });
  }

  release(holder: QuotaHolder): void {
    const keys = this.#keysOf(holder);
    this.#add(keys, -1);
    // While Redis is down nothing is written: `reregister` writes all counts.
    if (!this.#isStale || this.#registering) this.#attempt(this.#write(keys));
  }

  /** Releases all slots by ending the lease. */
  stop(): void {
    this.#isStopped = true;
    this.#endRenewals();
    const end = () => this.#redis.disconnect();
    this.#redis.zrem(workersKey, this.#worker).then(end, end);
  }

  /** True when Redis granted the slots, or is down. */
  async #acquireShared(keys: readonly string[]): Promise<boolean> {
    if (performance.now() < this.#awayUntil) return true;
    try {
      if (this.#isStale) await this.#reregister();
      const answer = await this.#acquireInRedis(keys);
      if (answer >= 0) return answer === 1;
      await this.#reregister();
      return (await this.#acquireInRedis(keys)) !== 0;
    } catch (error) {
      this.#fallBackToLocal(error);
      return true;
    }
  }

  #acquireInRedis(keys: readonly string[]): Promise<number> {
    const { leaseMs, quotaTtlMs } = this.#limits;
    const bounds = keys.flatMap((key) => [this.#limitOf(key), this.#countOf(key)]);
    const args = [this.#worker, leaseMs, quotaTtlMs, ...bounds];
    return this.#redis.hubAcquire(keys.length + 1, workersKey, ...keys, ...args);
  }

  async #write(keys: readonly string[]): Promise<void> {
    for (let n = 0; n < keys.length; n += keysPerCommand) {
      const batch = this.#redis.pipeline();
      for (const key of keys.slice(n, n + keysPerCommand)) {
        const count = this.#countOf(key);
        if (count === 0) batch.hdel(key, this.#worker);
        else batch.hset(key, this.#worker, count).pexpire(key, this.#limits.quotaTtlMs);
      }
      const failed = (await batch.exec())?.find(([error]) => error !== null);
      if (failed?.[0]) throw failed[0];
    }
  }

  async #renewLease(): Promise<void> {
    if (this.#isStale) return this.#reregister();
    const known = await this.#redis.hubRenewLease(workersKey, this.#worker, this.#limits.leaseMs);
    if (known === 0) await this.#reregister();
  }

  /** Registers under a new worker id, since the counts stored under the old one may be wrong. */
  #reregister(): Promise<void> {
    this.#registering ??= this.#register().finally(() => (this.#registering = null));
    return this.#registering;
  }

  async #register(): Promise<void> {
    await this.#redis.zrem(workersKey, this.#worker);
    this.#worker = randomId();
    await this.#redis.hubRenewLease(workersKey, this.#worker, this.#limits.leaseMs);
    await this.#write([...this.#counts.keys()]);
    this.#isStale = false;
  }

  #attempt(work: Promise<void>): void {
    work.catch((error: unknown) => this.#fallBackToLocal(error));
  }

  #fallBackToLocal(error: unknown): void {
    if (!this.#isStale)
      this.#log.warn(
        { event: "connection_quota_local", reason: String(error) },
        "connection quota unavailable in Redis, each process enforces it locally until Redis returns",
      );
    this.#isStale = true;
    this.#awayUntil = performance.now() + this.#limits.quotaTimeoutMs;
    // Once per attempt and pause, not per stream; it is written when Redis is back.
    const faults = this.#faults;
    if (!this.#isStopped) recordDegraded({ faults }, "stream-quota", error, noOrigin);
  }

  #add(keys: readonly string[], difference: number): void {
    this.#total += difference;
    for (const key of keys) {
      const count = this.#countOf(key) + difference;
      if (count > 0) this.#counts.set(key, count);
      else this.#counts.delete(key);
    }
    if (this.#total === 0 || this.#isStopped) return this.#endRenewals();
    const renew = () => this.#attempt(this.#renewLease());
    this.#timer ??= setInterval(renew, this.#limits.leaseRenewalMs).unref();
  }

  #endRenewals(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
  }

  #countOf(key: string): number {
    return this.#counts.get(key) ?? 0;
  }

  #limitOf(key: string): number {
    return key.startsWith(seatPrefix) ? this.#limits.maxStreamsPerSeat : this.#maxPerAddress;
  }

  #keysOf({ seats, ip }: QuotaHolder): string[] {
    return [`${addressPrefix}${ip}`, ...seats.map((seat) => `${seatPrefix}${seat}`)];
  }
}

const addressPrefix = "{hub}:address:";
const seatPrefix = "{hub}:seat:";

function withScripts(redis: Redis): Redis & QuotaScripts {
  const read = (name: string) => readFileSync(asset(`server/sse/delivery/${name}.lua`), "utf8");
  redis.defineCommand("hubAcquire", { lua: read("acquire") });
  redis.defineCommand("hubRenewLease", { lua: read("renew-lease"), numberOfKeys: 1 });
  return redis as Redis & QuotaScripts;
}
