import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { note } from "../report.ts";
import { CompareError } from "./read.ts";

const ownRoot = join(import.meta.dirname, "../..");

/** The folder of another checkout; throws a `CompareError` unless it can be started. */
export function checkoutAt(folder: string): string {
  const root = resolve(folder);
  if (!existsSync(join(root, "server/build.mjs")))
    throw new CompareError(
      `${root} is no checkout of this service: \`git worktree add ${folder} <commit>\` makes one, and \`gate\` does it itself`,
    );
  if (!existsSync(join(root, "node_modules")))
    throw new CompareError(`${root} has no packages: run \`npm ci\` in it`);
  return root;
}

/** Checks a commit out beside this checkout while `work` runs. It shares the packages when both need the same. */
export async function withWorktree<T>(
  commit: string,
  work: (root: string) => Promise<T>,
): Promise<T> {
  checkCommit(commit);
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

/** A clone for CI has often the last commit only. */
function checkCommit(commit: string): void {
  try {
    git("rev-parse", "--verify", "--quiet", `${commit}^{commit}`);
  } catch {
    const isShallow = git("rev-parse", "--is-shallow-repository") === "true";
    throw new CompareError(
      isShallow
        ? `this clone is shallow and has no ${commit}: \`git fetch --unshallow --tags\` brings it (in GitHub Actions: fetch-depth: 0)`
        : `there is no commit ${commit} here: \`git fetch --tags\` brings those of the other side`,
    );
  }
}

function installPackages(root: string): void {
  const lock = (folder: string) => readFileSync(join(folder, "package-lock.json"), "utf8");
  if (lock(root) === lock(ownRoot))
    return symlinkSync(join(ownRoot, "node_modules"), join(root, "node_modules"));
  note("installing its packages");
  try {
    execFileSync("npm", ["ci", "--loglevel=error"], {
      cwd: root,
      stdio: ["ignore", "ignore", "inherit"],
    });
  } catch {
    throw new CompareError("`npm ci` failed for the packages of that commit");
  }
}

const git = (...args: string[]): string =>
  execFileSync("git", args, {
    cwd: ownRoot,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  }).trim();
