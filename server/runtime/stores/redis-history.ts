import { closeSync, fsyncSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Redis } from "ioredis";
import { continueHistory } from "../../../actors/index.ts";

/** In place of the machine's, when the server ended in order: then everything is on the disk. */
const ended = "ended";

/**
 * Whether a server that is started has lost what an earlier one acknowledged. What that has written outlives its
 * process, but not the machine: the last second is lost with that, unless the server ended in order before.
 */
export class RedisHistory {
  private readonly dataDir: string;
  /** The history of writes of which everything is there; "" for none. */
  private intact = "";
  private present = "";

  constructor(dataDir: string) {
    this.dataDir = dataDir;
  }

  /** Before a start. The marker counts for this one only, and is gone for good before anything new can be lost. */
  takeMarker(): void {
    const [machine, history = ""] = textOf(this.file).split(" ");
    // Without a marker the last start failed before any client could write.
    if (history !== "") this.intact = machine === ended || machine === machineId() ? history : "";
    rmSync(this.file, { force: true });
    sync(this.dataDir);
  }

  /** After a start. */
  async markIntact(redis: Redis): Promise<void> {
    this.present = await continueHistory(redis, this.intact);
    this.intact = "";
    this.writeMarker(machineId());
  }

  /** The server has ended in order. */
  close(): void {
    this.writeMarker(ended);
  }

  private writeMarker(machine: string): void {
    if (machine !== "") writeFileSync(this.file, `${machine} ${this.present}`);
  }

  private get file(): string {
    return join(this.dataDir, "history");
  }
}

/** Linux has a name for the time from one start of the machine to the next; "" where there is none. */
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
