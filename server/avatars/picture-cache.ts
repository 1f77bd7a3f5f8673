import { createSizedCache } from "../core/sized-cache.ts";
import { readStored, type PictureStore } from "./picture-store.ts";

/** Bytes of pictures a process keeps for drawing them again. */
const maxBytes = 16 * 1024 * 1024;

/** Reads of stored pictures, which never change under their name. */
export interface PictureCache {
  /** Rejects when it is not there or cannot be read. */
  read(name: string): Promise<Buffer>;
}

export function createPictureCache(store: Pick<PictureStore, "read">): PictureCache {
  const cache = createSizedCache<Buffer>({ maxBytes, sizeOf: (bytes) => bytes.length });
  return {
    read: async (name) =>
      cache.use(
        name,
        () => readStored(store, name),
        (bytes) => bytes,
      ),
  };
}
