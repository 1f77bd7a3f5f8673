import { mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { ImportRefused } from "../../contract.ts";
import { readInside } from "../../envelope-file.ts";

/** Files one folder of exports may have. */
export const maxFiles = 1_000_000;

/** A folder of files, on a disk or made up; paths have "/" and are sorted. */
export interface FileTree {
  paths(): Promise<readonly string[]>;
  read(path: string): Promise<Uint8Array>;
}

/** The files below a folder of the disk. */
export function diskTree(folder: string): FileTree {
  return {
    async paths() {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      const files = entries.filter((entry) => entry.isFile());
      if (files.length > maxFiles)
        throw new ImportRefused([
          { entity: folder, place: "", problem: `has more than ${maxFiles} files` },
        ]);
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
    async paths() {
      const paths = await tree.paths();
      return paths
        .filter((path) => path.startsWith(prefix))
        .map((path) => path.slice(prefix.length));
    },
    read: (path) => tree.read(prefix + path),
  };
}

/** A file as JSON; names the file when it is none. */
export async function readJson(tree: FileTree, path: string): Promise<unknown> {
  const bytes = await tree.read(path);
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    const problem = error instanceof Error ? error.message : "is no JSON";
    throw new ImportRefused([{ entity: path, place: "", problem }]);
  }
}
