import type { HubLimits } from "./limits.ts";

interface Member {
  /** Streams that listen or are about to. */
  users: number;
}

interface Entry<T> {
  topic: T;
  timer: NodeJS.Timeout | null;
}

/** Topics in use by name; one that nobody uses lingers for a while, since clients come back. */
export class TopicDirectory<T extends Member> {
  private readonly entries = new Map<string, Entry<T>>();
  private readonly lingering = new Set<string>();
  private readonly limits: HubLimits;
  private readonly onDrop: (name: string, topic: T) => void;

  constructor(limits: HubLimits, onDrop: (name: string, topic: T) => void) {
    this.limits = limits;
    this.onDrop = onDrop;
  }

  /** The topic with one user more; `create` runs for a new one. */
  enter(name: string, create: () => T): T {
    const known = this.entries.get(name);
    if (known?.timer) clearTimeout(known.timer);
    this.lingering.delete(name);
    const entry = known ?? { topic: create(), timer: null };
    entry.timer = null;
    this.entries.set(name, entry);
    entry.topic.users += 1;
    return entry.topic;
  }

  /** The topic with one user less; undefined when it is gone. */
  leave(name: string): T | undefined {
    const entry = this.entries.get(name);
    if (!entry) return undefined;
    entry.topic.users -= 1;
    if (entry.topic.users === 0) this.linger(name, entry);
    return entry.topic;
  }

  clear(): void {
    for (const name of [...this.entries.keys()]) this.drop(name);
  }

  private linger(name: string, entry: Entry<T>): void {
    entry.timer = setTimeout(() => this.drop(name), this.limits.lingerMs);
    entry.timer.unref();
    this.lingering.add(name);
    const [oldest] = this.lingering;
    if (this.lingering.size > this.limits.maxLingering && oldest !== undefined) this.drop(oldest);
  }

  private drop(name: string): void {
    const entry = this.entries.get(name);
    if (!entry) return;
    if (entry.timer) clearTimeout(entry.timer);
    this.entries.delete(name);
    this.lingering.delete(name);
    this.onDrop(name, entry.topic);
  }
}
