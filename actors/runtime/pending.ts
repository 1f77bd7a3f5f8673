/**
 * What waits for an answer of another process, under numbers that rise. A ring and no map: entries come and go
 * with every forwarded command, and a map would keep them from the collector as a set does (`core/bag.ts`).
 */
export class Pending<T> {
  private readonly entries: (T | null)[] = [];
  private readonly capacity: number;
  private oldest = 0;
  private next = 0;
  private count = 0;

  /** `capacity`: numbers from the oldest that still waits to the newest. */
  constructor(capacity: number) {
    this.capacity = capacity;
  }

  get size(): number {
    return this.count;
  }

  /** The number of the entry; null when there is no room before the oldest is taken. */
  add(entry: T): number | null {
    if (this.next - this.oldest >= this.capacity) return null;
    const number = this.next++;
    this.entries[number % this.capacity] = entry;
    this.count += 1;
    return number;
  }

  /** Takes an entry out; null when it is there no more. */
  take(number: number): T | null {
    if (number < this.oldest || number >= this.next) return null;
    const place = number % this.capacity;
    const entry = this.entries[place] ?? null;
    if (entry === null) return null;
    this.entries[place] = null;
    this.count -= 1;
    while (this.oldest < this.next && this.entries[this.oldest % this.capacity] === null)
      this.oldest += 1;
    return entry;
  }

  /** From the oldest on; the one at hand may be taken. */
  *[Symbol.iterator](): Generator<[number: number, entry: T]> {
    for (let number = this.oldest; number < this.next; number++) {
      const entry = this.entries[number % this.capacity] ?? null;
      if (entry !== null) yield [number, entry];
    }
  }
}
