import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { ImportRefused } from "../../envelope/contract.ts";
import { readJsonFile } from "../../envelope/source-json.ts";
import { isFields, textOf } from "../fields.ts";

/** A release and the folder of each category; adjacent releases share folders. */
export interface Release {
  version: string;
  folders: ReadonlyMap<string, string>;
}

export interface MinecraftSource {
  /** Releases with items and blocks, oldest first. */
  releases: readonly Release[];
  /** The parsed category of a release; null for a missing category. */
  read(release: Release, category: string): Promise<unknown>;
  pictures: Pictures | null;
}

/** Pictures of `minecraft-assets`. They belong to the game vendor: read in place, never copied. */
export interface Pictures {
  folder: string;
  /** Path of the picture below `folder`, in the set of the release. */
  find(release: string, name: string, kinds: readonly string[]): string | null;
  /** The newest set that is not newer than the release. */
  setOf(release: string): string | null;
}

const releasePattern = /^\d+(?:\.\d+)+$/;
const dataFolders = ["minecraft-data/data", "minecraft-data/minecraft-data/data", "."];
const pictureFolders = ["minecraft-assets", "../minecraft-assets"];
const pictureKinds = ["items", "blocks", "mob_effect"];

/** Opens a folder with the package `minecraft-data` and optionally `minecraft-assets`, or the package itself. */
export async function openMinecraft(folder: string): Promise<MinecraftSource> {
  const roots = [...dataFolders, ...dataFolders.map((path) => join("node_modules", path))];
  const root = await firstWith(folder, roots, "dataPaths.json");
  if (root === null) throw refusal(folder, "has no minecraft-data package");
  const releases = readReleases(await readJsonFile(join(root, "dataPaths.json")));
  if (releases.length === 0) throw refusal(folder, "names no release");
  // Caches the last file of each category: releases are read in order.
  const cached = new Map<string, { path: string; content: unknown }>();
  return {
    releases,
    async read({ folders }, category) {
      const path = folders.get(category);
      if (path === undefined) return null;
      const known = cached.get(category);
      if (known?.path === path) return known.content;
      const content = await readJsonFile(join(root, path, `${category}.json`));
      cached.set(category, { path, content });
      return content;
    },
    pictures: await openPictures(folder),
  };
}

/** Compares version numbers part by part. */
export function compareReleases(a: string, b: string): number {
  const [left, right] = [a.split(".").map(Number), b.split(".").map(Number)];
  for (let at = 0; at < Math.max(left.length, right.length); at++) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function readReleases(paths: unknown): Release[] {
  const versions = isFields(paths) && isFields(paths["pc"]) ? paths["pc"] : {};
  return Object.entries(versions)
    .map(([version, folders]) => ({
      version,
      folders: new Map(
        Object.entries(isFields(folders) ? folders : {}).flatMap(([category, path]) => {
          const text = textOf(path);
          return text === null ? [] : [[category, text] as const];
        }),
      ),
    }))
    .filter(
      ({ version, folders }) =>
        releasePattern.test(version) && folders.has("items") && folders.has("blocks"),
    )
    .sort((a, b) => compareReleases(a.version, b.version));
}

async function openPictures(folder: string): Promise<Pictures | null> {
  const roots = pictureFolders.flatMap((path) => [path, join("node_modules", path)]);
  const root = await firstWith(folder, roots, "minecraft-assets/data");
  if (root === null) return null;
  const data = join(root, "minecraft-assets/data");
  const sets = (await readdir(data)).filter((name) => releasePattern.test(name));
  sets.sort(compareReleases);
  const files = new Map<string, ReadonlySet<string>>();
  for (const set of sets)
    for (const kind of pictureKinds)
      files.set(`${set}/${kind}`, new Set(await readdir(join(data, set, kind)).catch(() => [])));
  const setOf = (release: string) =>
    sets.findLast((set) => compareReleases(set, release) <= 0) ?? null;
  return {
    folder: data,
    setOf,
    find(release, name, kinds) {
      const set = setOf(release);
      const kind = kinds.find((one) => files.get(`${set}/${one}`)?.has(`${name}.png`));
      return kind === undefined ? null : `${set}/${kind}/${name}.png`;
    },
  };
}

async function firstWith(
  folder: string,
  candidates: readonly string[],
  name: string,
): Promise<string | null> {
  for (const candidate of candidates) {
    const path = join(folder, candidate);
    if (await stat(join(path, name)).catch(() => null)) return path;
  }
  return null;
}

const refusal = (entity: string, problem: string) =>
  new ImportRefused([{ entity, place: "", problem }]);
