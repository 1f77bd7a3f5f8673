import { readFileSync } from "node:fs";
import type { Redis } from "ioredis";
import { asset } from "../../platform/assets.ts";
import type { WithFaults, WithRedis } from "../../platform/capabilities.ts";
import { AppError } from "../../platform/errors.ts";
import { recordDegraded } from "../../platform/faults/degraded.ts";
import type { FaultRecorder } from "../../platform/faults/recorder.ts";
import { noOrigin } from "../../platform/origin.ts";
import { withTimeout } from "../../platform/time/deadline.ts";
import { unavailable } from "../pipeline/failures.ts";
import { ownIdStart } from "../pipeline/request-context.ts";

/** Quota of concurrent uploads per account and per address over all workers. */
export const maxUploadsOfOne = 4;
/** Concurrent uploads of a process; bounds the memory of their bodies. */
export const maxUploads = 12;
/** Minimum upload rate in every window; a slower upload is refused. */
const minBytesPerSecond = 16_384;
const windowMs = 5_000;
const checkMs = 500;
/** Lease of an upload slot: the slots of a killed worker expire, others are renewed. */
const leaseMs = 15_000;
const renewMs = 5_000;
/** Timeout of Redis; after it a worker counts its uploads alone. */
const sharedWaitMs = 500;
/** Uploads of this process, by which Redis tells them apart. */
let numAcquired = 0;

const script = readFileSync(asset("server/http/uws/upload-quota.lua"), "utf8");

/** The sender of an upload and its progress. */
export interface Sender {
  /** Received bytes of the body. */
  readonly numBytes: number;
  /** The account and the address. */
  readonly names: readonly string[];
  /** Aborts the upload; its slot is released before the call. */
  cutOff(refusal: AppError): void;
}

interface Upload {
  id: string;
  sender: Sender;
  windowAt: number;
  windowBytes: number;
  renewAt: number;
  /** The body is complete: the upload can no longer be aborted as slow. */
  isRead: boolean;
}

const tooMany = () => {
  const retry_after = windowMs / 1_000;
  return new AppError("rate_limit:exceeded", { params: { retry_after } });
};

/**
 * Upload quota. One account or address holds at most `maxUploadsOfOne` slots, and a slow sender loses its slot after
 * one window: otherwise a few slow uploads would block all others.
 */
export class UploadQuota {
  readonly #redis: Redis;
  readonly #faults: FaultRecorder;
  readonly #open = new Map<Sender, Upload>();
  readonly #counts = new Map<string, number>();
  #timer: NodeJS.Timeout | null = null;

  constructor({ redis, faults }: WithRedis & WithFaults) {
    this.#redis = redis;
    this.#faults = faults;
  }

  /** Acquires a slot of this process, to be released once. Returns null, or the refusal. */
  acquire(sender: Sender): AppError | null {
    if (sender.names.some((name) => (this.#counts.get(name) ?? 0) >= maxUploadsOfOne))
      return tooMany();
    if (this.#open.size >= maxUploads) return unavailable();
    const now = performance.now();
    numAcquired += 1;
    const id = `${ownIdStart}${numAcquired}`;
    const times = { windowAt: now, renewAt: now + renewMs };
    const upload = { id, sender, ...times, windowBytes: 0, isRead: false };
    this.#open.set(sender, upload);
    for (const name of sender.names) this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    this.#timer ??= setInterval(() => this.#check(), checkMs).unref();
    return null;
  }

  /**
   * Acquires the slot in the quota shared by all workers. When that is exhausted it aborts the upload, even one that
   * arrived meanwhile, and resolves to false: a body must not be used before the answer.
   */
  async acquireShared(sender: Sender): Promise<boolean> {
    const upload = this.#open.get(sender);
    if (upload === undefined) return false;
    const isHeld = await this.#holdInRedis(upload);
    if (!isHeld) this.#cutOff(sender, tooMany());
    return isHeld;
  }

  /** Marks the body as complete: its sender is no longer slow. The slot is held until `release`. */
  finishReading(sender: Sender): void {
    const upload = this.#open.get(sender);
    if (upload !== undefined) upload.isRead = true;
  }

  release(sender: Sender): void {
    const upload = this.#open.get(sender);
    if (upload === undefined) return;
    this.#open.delete(sender);
    for (const name of sender.names) {
      const left = (this.#counts.get(name) ?? 1) - 1;
      if (left > 0) this.#counts.set(name, left);
      else this.#counts.delete(name);
      // A slot that cannot be released in Redis expires with its lease.
      this.#redis.zrem(keyOf(name), upload.id).catch(() => undefined);
    }
    if (this.#open.size === 0) this.close();
  }

  close(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
  }

  #check(): void {
    const now = performance.now();
    for (const upload of [...this.#open.values()]) {
      if (!upload.isRead && now >= upload.windowAt + windowMs) this.#checkRate(upload, now);
      if (now < upload.renewAt || !this.#open.has(upload.sender)) continue;
      upload.renewAt = now + renewMs;
      void this.#renew(upload);
    }
  }

  /** A worker that was frozen longer than its lease may have lost the slot to another upload. */
  async #renew(upload: Upload): Promise<void> {
    const isHeld = await this.#holdInRedis(upload);
    if (!isHeld && !upload.isRead) this.#cutOff(upload.sender, tooMany());
  }

  #checkRate(upload: Upload, now: number): void {
    const { sender, windowAt, windowBytes } = upload;
    const least = (minBytesPerSecond * (now - windowAt)) / 1_000;
    const isSlow = sender.numBytes - windowBytes < least;
    Object.assign(upload, { windowAt: now, windowBytes: sender.numBytes });
    if (isSlow) this.#cutOff(sender, new AppError("request:too_slow"));
  }

  #cutOff(sender: Sender, refusal: AppError): void {
    if (!this.#open.has(sender)) return;
    this.release(sender);
    sender.cutOff(refusal);
  }

  /**
   * Acquires or renews the slots of an upload in Redis; false when a name has no more. While Redis is down each worker
   * enforces the quota locally. Uses EVAL, not EVALSHA: its NOSCRIPT retry could run after the release of the same slot.
   */
  #holdInRedis({ id, sender }: Upload): Promise<boolean> {
    const answers = sender.names.map((name) =>
      this.#redis.eval(script, 1, keyOf(name), id, leaseMs, maxUploadsOfOne),
    );
    return withTimeout(Promise.all(answers), sharedWaitMs).then(
      (held) => !held.includes(0),
      (error: unknown) => {
        const faults = this.#faults;
        recordDegraded({ faults }, "upload-quota", error, noOrigin);
        return true;
      },
    );
  }
}

const keyOf = (name: string) => `uploads:${name}`;
