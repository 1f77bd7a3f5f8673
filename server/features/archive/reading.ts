import type { ArchiveBody } from "./domain/archive.ts";
import { encodedReply } from "../../http/pipeline/route.ts";

export const base = "/v1/codex";

/** Shared parts of the archive routes (COD-20). */
export const publicRead = {
  method: "GET",
  tag: "Archive",
  auth: "public",
  notFoundCode: "codex:game_not_found",
  cache: "public, max-age=60",
  publicData: true,
} as const;

export const gameErrors = ["codex:game_not_found", "codex:branch_not_found"] as const;

export async function answer(body: Promise<ArchiveBody>) {
  const { content, etag } = await body;
  return encodedReply(200, content, { etag });
}
