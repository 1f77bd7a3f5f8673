import type { Config } from "../../../platform/config/config.ts";
import { createBucketStore } from "./bucket-store.ts";
import { createFolderStore, type PictureStore } from "./picture-store.ts";

/** The configured store: a bucket, or a folder of DATA_DIR. */
export function createPictureStore(
  config: Pick<Config, "DATA_DIR" | "AVATAR_STORE">,
): PictureStore {
  return config.AVATAR_STORE === ""
    ? createFolderStore(config)
    : createBucketStore(config.AVATAR_STORE);
}
