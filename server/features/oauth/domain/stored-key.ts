import { createHash } from "node:crypto";

/**
 * Where an entry of the protocol library lies. Apart from the store, whose library only those processes load that are
 * asked for a page of the protocol.
 */
export const storedKey = (model: string, id: string): string =>
  `oauth:${model}:${createHash("sha256").update(id).digest("base64url")}`;
