import { readdirSync, rmSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { basename, join } from "node:path";
import { asset } from "../../platform/assets.ts";

/**
 * Keeps Node's compile cache in a folder: a restarted process compiles no code again. Each build has its own folder, and
 * the folders of other builds are removed here. Without write access there is no cache. Returns the environment of the
 * children.
 */
export function keepCompiledCode(cache: string): { NODE_COMPILE_CACHE: string } {
  const builds = join(cache, "compiled");
  const own = basename(asset("."));
  try {
    for (const name of readdirSync(builds))
      if (name !== own) rmSync(join(builds, name), { recursive: true, force: true });
  } catch {
    // There is no cache yet, or it belongs to another user.
  }
  enableCompileCache(join(builds, own));
  return { NODE_COMPILE_CACHE: join(builds, own) };
}
