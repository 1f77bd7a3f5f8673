import packageJson from "../../package.json" with { type: "json" };

/** Version of the service, as answered in every response envelope (ENV-02). */
export const serviceVersion: string = packageJson.version;

/** Set by `server/build.mjs` in every program of the build. */
declare const BUILD_DIGEST: string | undefined;

/** Digest of the sources of this build, so that mixed builds are visible; `sources` without a build. */
export const buildDigest: string = typeof BUILD_DIGEST === "string" ? BUILD_DIGEST : "sources";

declare const BUILD_COMMIT: string | undefined;

/** Commit that was checked out at the build; `unknown` for the sources, and outside a repository. */
export const buildCommit: string = typeof BUILD_COMMIT === "string" ? BUILD_COMMIT : "unknown";
