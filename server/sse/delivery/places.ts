import { readFileSync } from "node:fs";
import type { Redis } from "ioredis";
import { asset } from "../../platform/assets.ts";
import { AppError } from "../../platform/errors.ts";
import { randomId } from "../../platform/ids.ts";
import type { Logger } from "../../platform/log/logger.ts";
import { connectRedis } from "../../platform/redis/redis.ts";
import type { HubLimits } from "./limits.ts";

/** What a stream occupies: one place of its address and one of every seat it is for. */
export interface Place {
  seatIds: readonly number[];
  ip: string;
}

interface PlaceScripts {
  hubTake(keyCount: number, ...keysAndArgs: (string | number)[]): Promise<number>;
  hubBeat(workers: string, worker: string, leaseMs: number): Promise<number>;
}

const workersKey = "{hub}:workers";
const keysPerCommand = 256;

/**
 * Counts open streams by seat and by address over all processes that share the Redis (HUB-07). Every
 * process keeps its own count under a name of its own, alive while it gives signs of life: what a
 * killed one held is free after the lease. A process that lost touch comes back under a new name with
 * what it really holds. While Redis is away each process counts alone.
 */
export class Places {
  private readonly limits: HubLimits;
  private readonly maxPerAddress: number;
  private readonly log: Logger;
  private readonly redis: Redis & PlaceScripts;
  private readonly counts = new Map<string, number>();
  private readonly timer: NodeJS.Timeout;
  private total = 0;
  private worker = randomId();
  /** Redis may not have what we hold. */
  private isStale = true;
  private renewing: Promise<void> | null = null;
  private awayUntil = 0;

  constructor(url: string, log: Logger, limits: HubLimits, maxPerAddress: number) {
    this.limits = limits;
    this.maxPerAddress = maxPerAddress;
    this.log = log;
    this.redis = withScripts(
      connectRedis(url, log, "hub-places", { commandTimeout: limits.placeWaitMs }),
    );
    this.redis.on("ready", () => this.attempt(this.renew()));
    this.timer = setInterval(() => this.attempt(this.beat()), limits.beatMs);
    this.timer.unref();
  }

  /** Throws `rate_limit:exceeded`, or `server:unavailable` when the process is full. */
  async take(place: Place): Promise<void> {
    const params = { retry_after: this.limits.retryAfterSeconds };
    if (this.total >= this.limits.maxStreams) throw new AppError("server:unavailable", { params });
    const keys = this.keysOf(place);
    const isFull = keys.some((key) => this.countOf(key) >= this.mostOf(key));
    if (isFull) throw new AppError("rate_limit:exceeded", { params });
    this.add(keys, 1);
    if (await this.ask(keys)) return;
    this.give(place);
    throw new AppError("rate_limit:exceeded", { params });
  }

  give(place: Place): void {
    const keys = this.keysOf(place);
    this.add(keys, -1);
    // While Redis is away nothing is told; `renew` tells all.
    if (!this.isStale || this.renewing) this.attempt(this.write(keys));
  }

  /** Gives everything back. */
  stop(): void {
    clearInterval(this.timer);
    const end = () => this.redis.disconnect();
    this.redis.zrem(workersKey, this.worker).then(end, end);
  }

  /** True when the place is free by Redis' account, or Redis is away. */
  private async ask(keys: readonly string[]): Promise<boolean> {
    if (performance.now() < this.awayUntil) return true;
    try {
      if (this.isStale) await this.renew();
      const answer = await this.takeInStore(keys);
      if (answer >= 0) return answer === 1;
      await this.renew();
      return (await this.takeInStore(keys)) !== 0;
    } catch (error) {
      this.lose(error);
      return true;
    }
  }

  private takeInStore(keys: readonly string[]): Promise<number> {
    const { leaseMs, placeTtlMs } = this.limits;
    const bounds = keys.flatMap((key) => [this.mostOf(key), this.countOf(key)]);
    const args = [this.worker, leaseMs, placeTtlMs, ...bounds];
    return this.redis.hubTake(keys.length + 1, workersKey, ...keys, ...args);
  }

  private async write(keys: readonly string[]): Promise<void> {
    for (let n = 0; n < keys.length; n += keysPerCommand) {
      const batch = this.redis.pipeline();
      for (const key of keys.slice(n, n + keysPerCommand)) {
        const count = this.countOf(key);
        if (count === 0) batch.hdel(key, this.worker);
        else batch.hset(key, this.worker, count).pexpire(key, this.limits.placeTtlMs);
      }
      const failed = (await batch.exec())?.find(([error]) => error !== null);
      if (failed?.[0]) throw failed[0];
    }
  }

  private async beat(): Promise<void> {
    if (this.isStale) return this.renew();
    const known = await this.redis.hubBeat(workersKey, this.worker, this.limits.leaseMs);
    if (known === 0) await this.renew();
  }

  /** Begins anew under another name: what Redis has under the old one may be wrong. */
  private renew(): Promise<void> {
    this.renewing ??= this.introduce().finally(() => (this.renewing = null));
    return this.renewing;
  }

  private async introduce(): Promise<void> {
    await this.redis.zrem(workersKey, this.worker);
    this.worker = randomId();
    await this.redis.hubBeat(workersKey, this.worker, this.limits.leaseMs);
    await this.write([...this.counts.keys()]);
    this.isStale = false;
  }

  private attempt(work: Promise<void>): void {
    work.catch((error: unknown) => this.lose(error));
  }

  private lose(error: unknown): void {
    if (!this.isStale)
      this.log.warn({ reason: String(error) }, "streams are counted by each process alone");
    this.isStale = true;
    this.awayUntil = performance.now() + this.limits.placeWaitMs;
  }

  private add(keys: readonly string[], difference: number): void {
    this.total += difference;
    for (const key of keys) {
      const count = this.countOf(key) + difference;
      if (count > 0) this.counts.set(key, count);
      else this.counts.delete(key);
    }
  }

  private countOf(key: string): number {
    return this.counts.get(key) ?? 0;
  }

  private mostOf(key: string): number {
    return key.startsWith(seatPrefix) ? this.limits.maxStreamsPerSeat : this.maxPerAddress;
  }

  private keysOf({ seatIds, ip }: Place): string[] {
    return [`${addressPrefix}${ip}`, ...seatIds.map((seatId) => `${seatPrefix}${seatId}`)];
  }
}

const addressPrefix = "{hub}:address:";
const seatPrefix = "{hub}:seat:";

function withScripts(redis: Redis): Redis & PlaceScripts {
  const read = (name: string) => readFileSync(asset(`server/sse/delivery/${name}.lua`), "utf8");
  redis.defineCommand("hubTake", { lua: read("take") });
  redis.defineCommand("hubBeat", { lua: read("beat"), numberOfKeys: 1 });
  return redis as Redis & PlaceScripts;
}
