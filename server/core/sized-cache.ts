/** Values made once and kept while there is room; what was not used for long goes first. */
export interface SizedCache<V> {
  /**
   * What `present` makes of the value of this key, at once when it is known. Callers at the same time share
   * one making; one that fails is not kept.
   */
  use<T>(key: string, make: () => Promise<V>, present: (value: V) => T): T | Promise<T>;
  /** Bytes kept. */
  size(): number;
}

export interface SizedCacheOptions<V> {
  maxBytes: number;
  sizeOf: (value: V) => number;
  /** Told for each use whether the value was there. */
  onUse?: (isHit: boolean) => void;
}

/** A value larger than this part of the cache is given out, but not kept: it would push out all others. */
const largestPart = 2 / 3;
/** One that lies in the newest part of the cache stays where it is: moving it would cost more than finding it. */
const newestPart = 1 / 8;
/** What an entry costs besides its value. */
const entryBytes = 200;

export function createSizedCache<V>(options: SizedCacheOptions<V>): SizedCache<V> {
  const { maxBytes, sizeOf, onUse } = options;
  const kept = new Map<string, { value: V; bytes: number; place: number }>();
  const making = new Map<string, Promise<V>>();
  let total = 0;
  /** Goes up with each entry that is put at the end. */
  let end = 0;

  function keep(key: string, value: V): void {
    const bytes = sizeOf(value) + 2 * key.length + entryBytes;
    if (bytes > maxBytes * largestPart) return;
    kept.set(key, { value, bytes, place: ++end });
    total += bytes;
    for (const [oldest, entry] of kept) {
      if (total <= maxBytes) return;
      kept.delete(oldest);
      total -= entry.bytes;
    }
  }

  /** The order of a map is the order of insertion: the end is what was used last. */
  function moveToEnd(key: string, entry: { value: V; bytes: number; place: number }): void {
    kept.delete(key);
    entry.place = ++end;
    kept.set(key, entry);
  }

  function start(key: string, make: () => Promise<V>): Promise<V> {
    const work = make();
    making.set(key, work);
    work.then(
      (value) => {
        making.delete(key);
        keep(key, value);
      },
      () => making.delete(key),
    );
    return work;
  }

  return {
    use(key, make, present) {
      const known = kept.get(key);
      onUse?.(known !== undefined);
      if (known === undefined) return (making.get(key) ?? start(key, make)).then(present);
      if (end - known.place > kept.size * newestPart) moveToEnd(key, known);
      return present(known.value);
    },
    size: () => total,
  };
}
