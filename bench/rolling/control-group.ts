import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { atDeath, type AtDeath } from "./at-death.ts";

const root = "/sys/fs/cgroup";
const isFirstVersion = existsSync(join(root, "cpu/cpu.cfs_quota_us"));
const hierarchy = isFirstVersion ? join(root, "cpu") : root;
const periodMicros = 100_000;

/** What is still in the group goes back; it is busy until its processes are gone. */
const removeGroup = `for _ in $(seq 50); do
  while read -r pid; do echo "$pid" > "$1/../cgroup.procs"; done < "$1/cgroup.procs"
  rmdir "$1" && break
  sleep 0.2
done`;

/** A control group for the processor time of some processes; it needs root and a hierarchy that may be written. */
export class ControlGroup {
  readonly #folder: string;
  readonly #removal: AtDeath;

  private constructor(folder: string) {
    this.#folder = folder;
    this.#removal = atDeath(removeGroup, folder);
  }

  /** Throws with one line that says what is missing. */
  static make(name: string): ControlGroup {
    const folder = join(hierarchy, `em-${process.pid.toString(36)}-${name}`);
    try {
      if (!isFirstVersion) writeFileSync(join(root, "cgroup.subtree_control"), "+cpu");
      mkdirSync(folder);
    } catch (error) {
      throw new Error(`control groups that root may write are missing: ${String(error)}`, {
        cause: error,
      });
    }
    return new ControlGroup(folder);
  }

  /** Takes these processes in; their later children are in it as well. */
  add(pids: readonly number[]): void {
    for (const pid of pids) this.#write("cgroup.procs", String(pid));
  }

  /** All of them together get at most `share` of one core; null: no limit. */
  limit(share: number | null): void {
    const micros = share === null ? null : Math.round(share * periodMicros);
    if (isFirstVersion) this.#write("cpu.cfs_quota_us", String(micros ?? -1));
    else this.#write("cpu.max", `${micros ?? "max"} ${periodMicros}`);
  }

  /** On a busy machine all of them together get `times` as much as a process outside. */
  prefer(times: number): void {
    if (isFirstVersion) this.#write("cpu.shares", String(times * 1024));
    else this.#write("cpu.weight", String(times * 100));
  }

  /** Periods so far in which the group had used up its limit, and in which it ran at all. */
  periods(): { exhausted: number; all: number } {
    const stat = readFileSync(join(this.#folder, "cpu.stat"), "utf8");
    const numberOf = (name: string) =>
      Number(new RegExp(`^${name} (\\d+)$`, "m").exec(stat)?.[1] ?? 0);
    return { exhausted: numberOf("nr_throttled"), all: numberOf("nr_periods") };
  }

  /** Puts what still runs back to where groups begin. */
  remove(): Promise<void> {
    return this.#removal.now();
  }

  #write(file: string, text: string): void {
    writeFileSync(join(this.#folder, file), text);
  }
}
