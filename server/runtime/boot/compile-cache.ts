import { readdirSync, rmSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { basename, join } from "node:path";
import { asset } from "../../platform/assets.ts";

/**
 * Stores Node's compile cache in a folder, so that a restarted process compiles no code again. Each build
 * has its own folder; those of other builds are removed here. Without write access there is no cache.
 * Returns environment variables for the children.
 */
export function keepCompiledCode(cache: string): { NODE_COMPILE_CACHE: string } {
  const builds = join(cache, "compiled");
  const own = basename(asset("."));
  try {
    for (const name of readdirSync(builds))
      if (name !== own) rmSync(join(builds, name), { recursive: true, force: true });
  } catch {
    // The folder does not exist yet, or it belongs to another user.
  }
  enableCompileCache(join(builds, own));
  return { NODE_COMPILE_CACHE: join(builds, own) };
}
