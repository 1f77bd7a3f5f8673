import { mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { readInside } from "../../envelope/envelope-file.ts";
import { parseJsonFile, problemOf, unreadable } from "../../envelope/source-json.ts";

/** Maximal number of files in a folder of exports. */
export const maxFiles = 1_000_000;

/** A folder of files, on disk or in memory; paths are sorted and use "/". */
export interface FileTree {
  /** Prefix of the paths in messages. */
  readonly prefix?: string;
  paths(): Promise<readonly string[]>;
  read(path: string): Promise<Uint8Array>;
}

/** The files below a folder on disk. */
export function diskTree(folder: string): FileTree {
  return {
    async paths() {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      const files = entries.filter((entry) => entry.isFile());
      if (files.length > maxFiles) throw unreadable(folder, `has more than ${maxFiles} files`);
      return files
        .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, "/"))
        .sort();
    },
    read: (path) => readInside(folder, path),
  };
}

/** Writes a tree, or one folder of it, to disk; returns the number of files. */
export async function writeTree(tree: FileTree, folder: string, only = ""): Promise<number> {
  const paths = (await tree.paths()).filter((path) => path.startsWith(only));
  for (const path of paths) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, await tree.read(path));
  }
  return paths.length;
}

/** A subtree. */
export function branchOf(tree: FileTree, folder: string): FileTree {
  if (folder === "") return tree;
  const prefix = `${folder}/`;
  return {
    prefix: `${tree.prefix ?? ""}${prefix}`,
    async paths() {
      const paths = await tree.paths();
      return paths
        .filter((path) => path.startsWith(prefix))
        .map((path) => path.slice(prefix.length));
    },
    read: (path) => tree.read(prefix + path),
  };
}

/** Reads and parses a JSON file; throws ImportRefused with the path of an unreadable file. */
export async function readJson(tree: FileTree, path: string): Promise<unknown> {
  const name = `${tree.prefix ?? ""}${path}`;
  const bytes = await tree.read(path).catch((error: unknown) => {
    throw unreadable(name, problemOf(error));
  });
  return parseJsonFile(bytes, name);
}
