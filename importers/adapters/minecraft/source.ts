import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { ImportRefused } from "../../envelope/contract.ts";
import { readJsonFile } from "../../envelope/source-json.ts";
import { isFields, textOf } from "../fields.ts";

/** A release and where each category of its data lies; neighbouring releases share folders. */
export interface Release {
  version: string;
  folders: ReadonlyMap<string, string>;
}

export interface MinecraftSource {
  /** With items and blocks, oldest first. */
  releases: readonly Release[];
  /** What a category says in a release, parsed; null where the release has none. */
  read(release: Release, category: string): Promise<unknown>;
  pictures: Pictures | null;
}

/** Pictures of `minecraft-assets`, which are the game vendor's: read where they are, never passed on. */
export interface Pictures {
  folder: string;
  /** Path of the picture below `folder`, of the newest set that is not newer than the release. */
  find(release: string, name: string, kinds: readonly string[]): string | null;
  /** The set that is used for a release. */
  setOf(release: string): string | null;
}

const releasePattern = /^\d+(?:\.\d+)+$/;
const dataFolders = ["minecraft-data/data", "minecraft-data/minecraft-data/data", "."];
const pictureFolders = ["minecraft-assets", "../minecraft-assets"];
const pictureKinds = ["items", "blocks", "mob_effect"];

/** Opens a folder that has the packages `minecraft-data` and perhaps `minecraft-assets`, or is the first of them. */
export async function openMinecraft(folder: string): Promise<MinecraftSource> {
  const roots = [...dataFolders, ...dataFolders.map((path) => join("node_modules", path))];
  const root = await firstWith(folder, roots, "dataPaths.json");
  if (root === null) throw refusal(folder, "has no minecraft-data package");
  const releases = readReleases(await readJsonFile(join(root, "dataPaths.json")));
  if (releases.length === 0) throw refusal(folder, "names no release");
  // The last file of each category: releases come in order, so an older one is not asked for again.
  const kept = new Map<string, { path: string; content: unknown }>();
  return {
    releases,
    async read({ folders }, category) {
      const path = folders.get(category);
      if (path === undefined) return null;
      const known = kept.get(category);
      if (known?.path === path) return known.content;
      const content = await readJsonFile(join(root, path, `${category}.json`));
      kept.set(category, { path, content });
      return content;
    },
    pictures: await openPictures(folder),
  };
}

/** Numbers of two releases, compared one by one. */
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
