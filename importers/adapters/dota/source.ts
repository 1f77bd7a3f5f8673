import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { ImportRefused } from "../../envelope/contract.ts";
import { compareVersions } from "../../envelope/patch-version.ts";
import { readJsonFile } from "../../envelope/source-json.ts";
import { isFields, rowsOf, textOf } from "../fields.ts";

/** One installed version of `dotaconstants`: the game at one patch. */
export interface Snapshot {
  /** "7.35b" */
  version: string;
  canonical: string;
  released: string | null;
  read(file: string): Promise<unknown>;
}

/** The letter of a patch counts as its build: 7.35b is 7.35.0+build.2. */
const patchPattern = /^(\d{1,15})[._](\d{1,15})([a-z]?)$/;

/** All versions of the package below a folder, whatever their folder names, oldest patch first. */
export async function findSnapshots(folder: string): Promise<Snapshot[]> {
  const found = new Map<string, Snapshot>();
  for (const packages of [folder, join(folder, "node_modules")])
    for (const name of await readdir(packages).catch(() => [])) {
      const root = join(packages, name);
      const { name: packageName } = await readFields(join(root, "package.json"));
      if (packageName !== "dotaconstants") continue;
      const snapshot = await openSnapshot(join(root, "build"));
      found.set(snapshot.canonical, found.get(snapshot.canonical) ?? snapshot);
    }
  if (found.size === 0)
    throw new ImportRefused([
      { entity: folder, place: "", problem: "has no package dotaconstants" },
    ]);
  return [...found.values()].sort((a, b) => compareVersions(a.canonical, b.canonical));
}

/** The newest patch in the patch notes. */
async function openSnapshot(build: string): Promise<Snapshot> {
  const read = (file: string) => readJsonFile(join(build, `${file}.json`));
  const notes = Object.keys(await readFields(join(build, "patchnotes.json")));
  const versions = notes
    .map((name) => patchPattern.exec(name))
    .filter((match) => match !== null)
    .map(([, major, minor, letter = ""]) => ({
      version: `${major}.${minor}${letter}`,
      canonical: `${Number(major)}.${Number(minor)}.0+build.${letter === "" ? 0 : letter.charCodeAt(0) - 96}`,
    }))
    .sort((a, b) => compareVersions(a.canonical, b.canonical));
  const newest = versions.at(-1);
  if (newest === undefined)
    throw new ImportRefused([{ entity: build, place: "", problem: "names no patch" }]);
  const dated = rowsOf(await read("patch")).find(({ name }) => name === newest.version);
  const date = new Date(textOf(dated?.["date"]) ?? Number.NaN);
  const released = Number.isNaN(date.getTime()) ? null : date.toISOString();
  return { ...newest, released, read };
}

/** Empty for a missing file: most folders beside the packages have none. */
async function readFields(path: string): Promise<Readonly<Record<string, unknown>>> {
  if ((await stat(path).catch(() => null)) === null) return {};
  const value = await readJsonFile(path);
  return isFields(value) ? value : {};
}
