import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";

const git = (...args: string[]): string[] =>
  execFileSync("git", args, { encoding: "utf8" }).split("\0").filter(Boolean);

/** Files that differ from the last commit, new ones included; null without a git checkout. */
export function changedFiles(): string[] | null {
  if (!existsSync(".git")) return null;
  const files = [
    ...git("diff", "--name-only", "-z", "HEAD"),
    ...git("ls-files", "--others", "--exclude-standard", "-z"),
  ];
  return [...new Set(files)].filter((file) => existsSync(file));
}

/** The folders and files of the project that are formatted. */
export const formatted = [
  ...["server", "workers", "actors", "importers", "db", "bench", "test"],
  ...["package.json", "tsconfig.json", ".oxlintrc.json", ".prettierrc.json"],
];
const isFormatted = (file: string): boolean =>
  formatted.some((one) => file === one || file.startsWith(`${one}/`));

/** What a formatter has to look at: everything, or with `isChangedOnly` what differs from the last commit. */
export function filesToFormat(isChangedOnly: boolean): string[] {
  const changed = isChangedOnly ? changedFiles() : null;
  return changed?.filter(isFormatted) ?? formatted.filter((one) => existsSync(one));
}
