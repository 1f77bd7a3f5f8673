import { readFileSync } from "node:fs";
import type { Redis } from "ioredis";
import { asset } from "../../platform/assets.ts";
import { AppError } from "../../platform/errors.ts";
import { unavailable } from "../pipeline/failures.ts";
import { ownIdStart } from "./exchange.ts";

/** Uploads an account, or an address, may have unanswered at once, at all workers together. */
export const maxUploadsOfOne = 4;
/** Uploads a process reads and decodes at once: what bounds the memory of their bodies. */
export const maxUploads = 12;
/** A sender has to bring this much in every window, or its place is given to others. */
const minBytesPerSecond = 16_384;
const windowMs = 5_000;
const checkMs = 500;
/** What a worker that died held is free again after it; others renew theirs. */
const leaseMs = 15_000;
const renewMs = 5_000;

const script = readFileSync(asset("server/http/uws/upload-place.lua"), "utf8");

/** Whoever sends, and how far it got. */
export interface Sender {
  /** Bytes of the body that have come. */
  readonly numBytes: number;
  /** The account and the address. */
  readonly names: readonly string[];
  /** Ends the upload, whose place is free already. */
  cutOff(refusal: AppError): void;
}

interface Upload {
  id: string;
  sender: Sender;
  windowAt: number;
  windowBytes: number;
  renewAt: number;
  /** All of it has come: it cannot be slow any more, and is not cut off. */
  isRead: boolean;
}

const tooMany = () => {
  const retry_after = windowMs / 1_000;
  return new AppError("rate_limit:exceeded", { params: { retry_after } });
};

/**
 * Places for uploads. Nobody takes more than a few: one account, or one address, would else keep everybody out by
 * sending slowly; and a slow sender keeps its places for no longer than one window.
 */
export class UploadPlaces {
  private readonly redis: Redis;
  private readonly open = new Map<Sender, Upload>();
  private readonly counts = new Map<string, number>();
  private numTaken = 0;
  private timer: NodeJS.Timeout | null = null;

  constructor(redis: Redis) {
    this.redis = redis;
  }

  /** Null when the sender has a place in this process, to be released once; otherwise why it has none. */
  take(sender: Sender): AppError | null {
    if (sender.names.some((name) => (this.counts.get(name) ?? 0) >= maxUploadsOfOne))
      return tooMany();
    if (this.open.size >= maxUploads) return unavailable();
    const now = performance.now();
    this.numTaken += 1;
    const id = `${ownIdStart}${this.numTaken}`;
    const times = { windowAt: now, renewAt: now + renewMs };
    const upload = { id, sender, ...times, windowBytes: 0, isRead: false };
    this.open.set(sender, upload);
    for (const name of sender.names) this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
    this.timer ??= setInterval(() => this.check(), checkMs).unref();
    return null;
  }

  /** Asks whether all workers together have the place that it has in this one, and cuts it off where they have none. */
  share(sender: Sender): void {
    const upload = this.open.get(sender);
    if (upload === undefined) return;
    for (const name of sender.names) this.hold(name, upload);
  }

  /** All of the upload has come; its place is its own until it is released. */
  finishReading(sender: Sender): void {
    const upload = this.open.get(sender);
    if (upload !== undefined) upload.isRead = true;
  }

  release(sender: Sender): void {
    const upload = this.open.get(sender);
    if (upload === undefined) return;
    this.open.delete(sender);
    for (const name of sender.names) {
      const left = (this.counts.get(name) ?? 1) - 1;
      if (left > 0) this.counts.set(name, left);
      else this.counts.delete(name);
      // What cannot be told to the store ends there with its lease.
      this.redis.zrem(keyOf(name), upload.id).catch(() => undefined);
    }
    if (this.open.size === 0) this.close();
  }

  close(): void {
    if (this.timer) clearInterval(this.timer);
    this.timer = null;
  }

  private check(): void {
    const now = performance.now();
    for (const upload of [...this.open.values()]) {
      if (!upload.isRead && now >= upload.windowAt + windowMs) this.judge(upload, now);
      if (now < upload.renewAt || !this.open.has(upload.sender)) continue;
      upload.renewAt = now + renewMs;
      this.share(upload.sender);
    }
  }

  private judge(upload: Upload, now: number): void {
    const { sender, windowAt, windowBytes } = upload;
    const least = (minBytesPerSecond * (now - windowAt)) / 1_000;
    const isSlow = sender.numBytes - windowBytes < least;
    Object.assign(upload, { windowAt: now, windowBytes: sender.numBytes });
    if (isSlow) this.cutOff(sender, new AppError("request:too_slow"));
  }

  private cutOff(sender: Sender, refusal: AppError): void {
    const upload = this.open.get(sender);
    if (upload === undefined || upload.isRead) return;
    this.release(sender);
    sender.cutOff(refusal);
  }

  /** Without its store each worker counts its own. Never by a hash: a release that overtook the script would be lost. */
  private hold(name: string, { id, sender }: Upload): void {
    this.redis.eval(script, 1, keyOf(name), id, leaseMs, maxUploadsOfOne).then(
      (answer) => answer === 0 && this.cutOff(sender, tooMany()),
      () => undefined,
    );
  }
}

const keyOf = (name: string) => `uploads:${name}`;
