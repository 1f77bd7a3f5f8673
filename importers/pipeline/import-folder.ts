import { realpath } from "node:fs/promises";
import { sep } from "node:path";

/** A file that the queue may not read; `message` says why and what to set. */
export class FileRefused extends Error {}

/**
 * The real path of a file that the queue `codex-import` may read: one below `folder`, the setting `IMPORT_DIR`, after
 * all symbolic links (IMP-06). An operator who can add a job must not read other files of the host by its errors.
 * Throws `FileRefused`.
 */
export async function importableFile(folder: string, path: string): Promise<string> {
  if (folder === "")
    throw new FileRefused("the queue codex-import reads no file: set IMPORT_DIR to a folder");
  const [root, file] = await Promise.all([realPath(folder), realPath(path)]);
  // One answer for a file elsewhere and for none, which would tell what exists.
  if (root === null || file === null || !file.startsWith(root.endsWith(sep) ? root : root + sep))
    throw new FileRefused(`${path}: no file below IMPORT_DIR (${folder})`);
  return file;
}

const realPath = (path: string) => realpath(path).catch(() => null);
