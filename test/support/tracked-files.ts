import { execFileSync } from "node:child_process";
import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

/** Copies the tracked files, as a fresh clone with the changes of this checkout has them. */
export function copyTracked(
  folder: string,
  isWanted: (name: string) => boolean = () => true,
): void {
  const tracked = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" });
  for (const name of tracked.split("\0"))
    if (name !== "" && isWanted(name) && existsSync(join(root, name)))
      cpSync(join(root, name), join(folder, name));
}
