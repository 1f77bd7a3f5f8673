import { readdirSync, rmSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { basename, join } from "node:path";
import { asset } from "../../platform/assets.ts";

/**
 * Code that was compiled once is not compiled again, above all in a process that takes the place of a killed one. A build
 * has a folder of its own, and those of other builds go, since nobody else removes them. Where nothing can be written,
 * nothing is kept. Returns what the children need in their environment.
 */
export function keepCompiledCode(cache: string): { NODE_COMPILE_CACHE: string } {
  const builds = join(cache, "compiled");
  const own = basename(asset("."));
  try {
    for (const name of readdirSync(builds))
      if (name !== own) rmSync(join(builds, name), { recursive: true, force: true });
  } catch {
    // Nothing was kept yet, or it belongs to somebody else.
  }
  enableCompileCache(join(builds, own));
  return { NODE_COMPILE_CACHE: join(builds, own) };
}
