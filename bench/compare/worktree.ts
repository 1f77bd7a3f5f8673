import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { note } from "../report.ts";

const ownRoot = join(import.meta.dirname, "../..");

/** Checks a commit out beside this checkout while `work` runs. It shares the packages when both need the same. */
export async function withWorktree<T>(
  commit: string,
  work: (root: string) => Promise<T>,
): Promise<T> {
  note(`checking out ${commit}`);
  const root = join(mkdtempSync(join(tmpdir(), "ember-gate-")), "checkout");
  // An interrupted gate leaves the entry of a folder that is gone.
  git("worktree", "prune");
  git("worktree", "add", "--quiet", "--detach", root, commit);
  try {
    installPackages(root);
    return await work(root);
  } finally {
    git("worktree", "remove", "--force", root);
  }
}

function installPackages(root: string): void {
  const lock = (folder: string) => readFileSync(join(folder, "package-lock.json"), "utf8");
  if (lock(root) === lock(ownRoot))
    symlinkSync(join(ownRoot, "node_modules"), join(root, "node_modules"));
  else {
    note("installing its packages");
    const args = ["ci", "--loglevel=error"];
    execFileSync("npm", args, { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
  }
}

function git(...args: string[]): void {
  execFileSync("git", args, { cwd: ownRoot, stdio: ["ignore", "ignore", "inherit"] });
}
