import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Redis } from "ioredis";
import { continuedKey } from "../core/store-history.ts";

/** Histories of the store that are remembered; a lobby lives for less starts than this. */
const maxHistories = 64;

/**
 * Which histories of writes the data folder has without a loss. A server that ends in order has everything that
 * was told of it, one that is killed may not have its last second, and it cannot tell the two apart itself.
 */
export class RedisHistory {
  private readonly dataDir: string;
  private earlier: string[] = [];

  constructor(dataDir: string) {
    this.dataDir = dataDir;
  }

  /**
   * Before a start. What is noted counts for this start only, and is gone for good before anything is told that a
   * crash might lose. `hasEndedNow`: a server that its parent had left ended in order just now.
   */
  take(hasEndedNow: boolean): void {
    const notes = hasEndedNow ? [this.ended, this.running] : [this.ended];
    // An attempt to start that failed has served nobody.
    this.earlier.push(...notes.flatMap(read));
    for (const file of [this.ended, this.running]) rmSync(file, { force: true });
    sync(this.dataDir);
  }

  /** After a start, before anyone is served. */
  async tell(redis: Redis): Promise<void> {
    const [, present] = /master_replid:(\w+)/.exec(await redis.info("replication")) ?? [];
    if (present === undefined) return;
    const all = [present, ...this.earlier].slice(0, maxHistories);
    if (all.length > 1) await redis.set(continuedKey, all.join(" "));
    writeFileSync(this.running, all.join(" "));
    this.earlier = [];
  }

  /** The server has ended in order. */
  close(): void {
    if (existsSync(this.running)) renameSync(this.running, this.ended);
  }

  private get running(): string {
    return join(this.dataDir, "history.running");
  }

  private get ended(): string {
    return join(this.dataDir, "history.ended");
  }
}

function read(file: string): string[] {
  try {
    return readFileSync(file, "utf8").split(" ");
  } catch {
    return [];
  }
}

function sync(folder: string): void {
  const handle = openSync(folder, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
