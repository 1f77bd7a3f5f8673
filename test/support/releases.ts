import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };

/** A version that was deployed, as `.deploy/releases.json` has it (BOOT-20). */
export interface Release {
  version: string;
  commit: string;
  /** Its last migration. */
  migration: string;
}

const root = join(import.meta.dirname, "../..");

export const releases = JSON.parse(
  readFileSync(join(root, ".deploy/releases.json"), "utf8"),
) as readonly Release[];

export function lastRelease(): Release {
  const last = releases.at(-1);
  if (last === undefined) throw new Error(".deploy/releases.json is empty");
  return last;
}

/** Standard output of git in this checkout. */
export const git = (...args: string[]): string =>
  execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

/** Fetches the history into a shallow clone. Throws with the command that helps if the commit is still missing. */
export function needCommit({ version, commit }: Release): void {
  if (hasCommit(commit)) return;
  const isShallow = git("rev-parse", "--is-shallow-repository").trim() === "true";
  if (isShallow && succeeds("fetch", "--quiet", "--unshallow") && hasCommit(commit)) return;
  const how = isShallow
    ? "this clone is shallow: run `git fetch --unshallow`"
    : "run `git fetch --all`";
  throw new Error(`${commit} of release ${version} is not in this clone; ${how}`);
}

const hasCommit = (commit: string) => succeeds("cat-file", "-e", `${commit}^{commit}`);

function succeeds(...args: string[]): boolean {
  try {
    git(...args);
    return true;
  } catch {
    return false;
  }
}

/** A folder with the sources and packages of a release, without a trace in this checkout. */
export function unpackRelease(release: Release): string {
  needCommit(release);
  // Not in the folder of the run, which may be in memory and forbid native code.
  const folder = mkdtempSync("/var/tmp/ember-release-");
  const archive = execFileSync("git", ["archive", release.commit], {
    cwd: root,
    maxBuffer: 2 ** 30,
  });
  execFileSync("tar", ["-x", "-C", folder], { input: archive });
  const { dependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  const own: Record<string, string> = packageJson.dependencies;
  if (Object.entries(dependencies).every(([name, version]) => own[name] === version))
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  else
    execFileSync("npm", ["ci", "--omit=dev", "--prefer-offline", "--no-audit", "--no-fund"], {
      cwd: folder,
      stdio: "ignore",
    });
  return folder;
}
