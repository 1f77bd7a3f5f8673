import { createHash } from "node:crypto";

/**
 * Redis key of an entry of the protocol library. Separate from the store, so that only processes that serve the
 * protocol load the library.
 */
export const storedKey = (model: string, id: string): string =>
  `oauth:${model}:${createHash("sha256").update(id).digest("base64url")}`;
