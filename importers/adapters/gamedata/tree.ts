import { mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { readInside } from "../../envelope/envelope-file.ts";
import { parseFile, problemOf, unreadable } from "../../envelope/source-json.ts";

/** Files one folder of exports may have. */
export const maxFiles = 1_000_000;

/** A folder of files, on a disk or made up; paths have "/" and are sorted. */
export interface FileTree {
  /** What stands before its paths in messages. */
  readonly prefix?: string;
  paths(): Promise<readonly string[]>;
  read(path: string): Promise<Uint8Array>;
}

/** The files below a folder of the disk. */
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

/** Writes the files of a tree, or those of one folder of it, below a folder of the disk; how many there were. */
export async function writeTree(tree: FileTree, folder: string, only = ""): Promise<number> {
  const paths = (await tree.paths()).filter((path) => path.startsWith(only));
  for (const path of paths) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, await tree.read(path));
  }
  return paths.length;
}

/** One folder of a tree as a tree of its own. */
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

/** A file as JSON; throws ImportRefused with its path when it cannot be read. */
export async function readJson(tree: FileTree, path: string): Promise<unknown> {
  const name = `${tree.prefix ?? ""}${path}`;
  const bytes = await tree.read(path).catch((error: unknown) => {
    throw unreadable(name, problemOf(error));
  });
  return parseFile(bytes, name);
}
