import { closeSync, fsyncSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Redis } from "ioredis";
import { continueHistory } from "../../../actors/index.ts";

/** Replaces the machine id after an orderly stop: all data is then on disk. */
const ended = "ended";

/**
 * Determines whether a restarted Redis has lost acknowledged writes. Its append-only file survives a crash
 * of the process, but a crash of the machine loses the last second, unless Redis stopped in order before.
 */
export class RedisHistory {
  readonly #dataDir: string;
  /** The replication id whose writes are all present; "" for none. */
  #intact = "";
  #present = "";

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  /**
   * Call before a start. The marker is valid for this start only and is deleted before any new write can be
   * lost.
   */
  takeMarker(): void {
    const [machine, history = ""] = textOf(this.#file).split(" ");
    // Without a marker the previous start failed before any client could write.
    if (history !== "") this.#intact = machine === ended || machine === machineId() ? history : "";
    rmSync(this.#file, { force: true });
    sync(this.#dataDir);
  }

  /** Call after a start. */
  async markIntact(redis: Redis): Promise<void> {
    this.#present = await continueHistory(redis, this.#intact);
    this.#intact = "";
    this.#writeMarker(machineId());
  }

  /** Call after Redis has stopped in order. */
  close(): void {
    this.#writeMarker(ended);
  }

  #writeMarker(machine: string): void {
    if (machine !== "") writeFileSync(this.#file, `${machine} ${this.#present}`);
  }

  get #file(): string {
    return join(this.#dataDir, "history");
  }
}

/** Linux has an id for each boot of the machine; "" on other systems. */
const machineId = () => textOf("/proc/sys/kernel/random/boot_id").trim();

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
