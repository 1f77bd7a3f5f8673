/** Entries taken before the rest is moved to an array of its own: for fewer that would cost more than they keep. */
const leastCut = 64;

/**
 * First in, first out, at the same cost whatever its length: tens of thousands may wait. What was taken is not
 * kept, also when the queue is never empty.
 */
export class Queue<T extends object> {
  private entries: T[] = [];
  private head = 0;

  get size(): number {
    return this.entries.length - this.head;
  }

  push(entry: T): void {
    this.entries.push(entry);
  }

  shift(): T | undefined {
    const entry = this.entries[this.head];
    if (entry) this.head += 1;
    if (this.size === 0) this.keep([]);
    else if (this.head >= leastCut && this.head > this.size)
      this.keep(this.entries.slice(this.head));
    return entry;
  }

  private keep(rest: T[]): void {
    this.entries = rest;
    this.head = 0;
  }
}
