import { readFileSync } from "node:fs";
import { asset } from "./assets.ts";
import packageJson from "../../package.json" with { type: "json" };

/** Version of the service, as answered in every response envelope (ENV-02). */
export const serviceVersion: string = packageJson.version;

/** Set by `server/build.mjs` in every program of the build. */
declare const BUILD_DIGEST: string | undefined;

/** Digest of the sources of this build, so that mixed builds are visible; `sources` without a build. */
export const buildDigest: string = typeof BUILD_DIGEST === "string" ? BUILD_DIGEST : "sources";

/**
 * Commit of this build, with `-dirty` for uncommitted changes; `unknown` without a build, and for a tree without a
 * history.
 */
export const buildCommit: string = readCommit();

function readCommit(): string {
  try {
    return readFileSync(asset("commit"), "utf8").trim();
  } catch {
    return "unknown";
  }
}
