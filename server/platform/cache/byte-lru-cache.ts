import { LRUCache } from "lru-cache";

/** LRU cache with a byte budget and single-flight loading. */
export interface ByteLruCache<V> {
  /**
   * Returns `present(value)` for the value of this key, synchronously on a cache hit. Concurrent misses share one
   * call of `make` (single-flight); a failure is not cached.
   */
  fetch<T>(key: string, make: () => Promise<V>, present: (value: V) => T): T | Promise<T>;
  /** Cached bytes. */
  size(): number;
}

export interface ByteLruCacheOptions<V> {
  maxBytes: number;
  sizeOf: (value: V) => number;
  /** Called for each fetch. */
  onUse?: (isHit: boolean) => void;
}

/** A value larger than this part of the cache is returned but not cached: it would evict all others. */
const largestPart = 2 / 3;
/** Overhead of an entry besides its value. */
const entryBytes = 200;

export function createByteLruCache<V extends object | string>(
  options: ByteLruCacheOptions<V>,
): ByteLruCache<V> {
  const { maxBytes, sizeOf, onUse } = options;
  const cache = new LRUCache<string, V, () => Promise<V>>({
    maxSize: maxBytes,
    maxEntrySize: Math.floor(maxBytes * largestPart),
    sizeCalculation: (value, key) => sizeOf(value) + 2 * key.length + entryBytes,
    fetchMethod: (_key, _stale, { context: make }) => make(),
  });
  return {
    fetch(key, make, present) {
      const known = cache.get(key);
      onUse?.(known !== undefined);
      if (known !== undefined) return present(known);
      return cache.forceFetch(key, { context: make }).then(present);
    },
    size: () => cache.calculatedSize,
  };
}
