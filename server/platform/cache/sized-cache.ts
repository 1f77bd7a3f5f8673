import { LRUCache } from "lru-cache";

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
/** What an entry costs besides its value. */
const entryBytes = 200;

export function createSizedCache<V extends object | string>(
  options: SizedCacheOptions<V>,
): SizedCache<V> {
  const { maxBytes, sizeOf, onUse } = options;
  const cache = new LRUCache<string, V, () => Promise<V>>({
    maxSize: maxBytes,
    maxEntrySize: Math.floor(maxBytes * largestPart),
    sizeCalculation: (value, key) => sizeOf(value) + 2 * key.length + entryBytes,
    fetchMethod: (_key, _stale, { context: make }) => make(),
  });
  return {
    use(key, make, present) {
      const known = cache.get(key);
      onUse?.(known !== undefined);
      if (known !== undefined) return present(known);
      return cache.forceFetch(key, { context: make }).then(present);
    },
    size: () => cache.calculatedSize,
  };
}
