import type { WithEnqueueAndWait } from "../../../workers/queues.ts";
import type {
  WithClock,
  WithConfig,
  WithEm,
  WithFaults,
  WithLog,
  WithOrigin,
} from "../../platform/capabilities.ts";
import type { PictureCache } from "./domain/picture-cache.ts";
import type { PictureStore } from "./domain/picture-store.ts";
import type { ProviderPictures } from "./domain/provider-pictures.ts";

export interface AvatarDeps
  extends WithEm, WithConfig, WithClock, WithLog, WithFaults, WithOrigin, WithEnqueueAndWait {
  /** Uploaded pictures as files. */
  pictureStore: PictureStore;
  /** Uploaded pictures as they are drawn. */
  pictures: PictureCache;
  providerPictures: ProviderPictures;
}
