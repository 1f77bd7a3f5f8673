import { execFileSync } from "node:child_process";
import { join } from "node:path";

const ownRoot = join(import.meta.dirname, "../..");

/** What Node needs to run a file of the sources: a program of the tests, or of the benches. */
export const sourceFlags: readonly string[] = ["--import", import.meta.resolve("tsx")];

const upToDate = new Set<string>();

/**
 * What Node needs to run a program of the product (`primary`, `console`, `import`, `openapi`) as npm does: from the
 * build, which is made first when the sources have changed. `root`: another checkout.
 */
export function builtProgram(name: string, root = ownRoot): string[] {
  if (!upToDate.has(root))
    execFileSync(process.execPath, [join(root, "server/build.mjs"), "--if-changed"]);
  upToDate.add(root);
  return ["--enable-source-maps", join(root, ".build/current", `${name}.js`)];
}
