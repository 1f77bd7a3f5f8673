import { createByteLruCache } from "../../../platform/cache/byte-lru-cache.ts";
import { readStored, type PictureStore } from "./picture-store.ts";

/** Bytes of pictures a process keeps: one costs 1 µs, to read it 290 from a folder, and far more from a bucket. */
const maxBytes = 16 * 1024 * 1024;

/** Reads of stored pictures, which never change under their name. */
export interface PictureCache {
  /** Rejects when it is not there or cannot be read. */
  read(name: string): Promise<Buffer>;
}

export function createPictureCache(store: Pick<PictureStore, "read">): PictureCache {
  const cache = createByteLruCache<Buffer>({ maxBytes, sizeOf: (bytes) => bytes.length });
  return {
    read: async (name) =>
      cache.fetch(
        name,
        () => readStored(store, name),
        (bytes) => bytes,
      ),
  };
}
