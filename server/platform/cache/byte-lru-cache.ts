import { LRUCache } from "lru-cache";

/** LRU cache with a byte budget and single-flight loading. */
export interface ByteLruCache<V> {
  /**
   * The value of this key. Concurrent misses share one call of `make` (single-flight); a failure is not cached.
   */
  fetch(key: string, make: () => Promise<V>): Promise<V>;
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
    async fetch(key, make) {
      const known = cache.get(key);
      onUse?.(known !== undefined);
      return known ?? cache.forceFetch(key, { context: make });
    },
    size: () => cache.calculatedSize,
  };
}
