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
 * Which histories of writes the data folder has without a loss. What a server has written outlives its process, but
 * not the machine: the last second is lost with that, unless the server ended in order before.
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
    const running = read(this.running);
    const isWhole = hasEndedNow || (running.boot !== "" && running.boot === bootId());
    // An attempt to start that failed has served nobody.
    this.earlier.push(...read(this.ended).histories, ...(isWhole ? running.histories : []));
    for (const file of [this.ended, this.running]) rmSync(file, { force: true });
    sync(this.dataDir);
  }

  /** After a start, before anyone is served. */
  async tell(redis: Redis): Promise<void> {
    const [, present] = /master_replid:(\w+)/.exec(await redis.info("replication")) ?? [];
    if (present === undefined) return;
    const all = [present, ...this.earlier].slice(0, maxHistories);
    if (all.length > 1) await redis.set(continuedKey, all.join(" "));
    writeFileSync(this.running, `${bootId()}\n${all.join(" ")}`);
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

interface Note {
  /** Of the machine while the server ran; "" where nobody can tell. */
  boot: string;
  histories: string[];
}

function read(file: string): Note {
  const [boot = "", histories = ""] = textOf(file).split("\n");
  return { boot, histories: histories.split(" ").filter(Boolean) };
}

/** Linux has a name for the time from one start of the machine to the next. */
const bootId = () => textOf("/proc/sys/kernel/random/boot_id").trim();

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
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
