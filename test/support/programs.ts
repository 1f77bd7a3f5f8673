import { execFileSync } from "node:child_process";
import { join } from "node:path";

const ownRoot = join(import.meta.dirname, "../..");

/** Node arguments for a source file, a program of the tests or benches, whose types Node strips itself. */
export const sourceFlags: readonly string[] = ["--disable-warning=ExperimentalWarning"];

const upToDate = new Set<string>();

/**
 * Node arguments for a program of the product (`primary`, `console`, `import`, `openapi`), run from the
 * build like npm does; it is rebuilt if the sources have changed. `root`: another checkout.
 */
export function builtProgram(name: string, root = ownRoot): string[] {
  if (!upToDate.has(root))
    execFileSync(process.execPath, [join(root, "server/build.mjs"), "--if-changed"]);
  upToDate.add(root);
  return ["--enable-source-maps", join(root, ".build/current", `${name}.js`)];
}
