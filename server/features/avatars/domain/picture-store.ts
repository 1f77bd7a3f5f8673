import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Config } from "../../../platform/config/config.ts";
import { randomId } from "../../../platform/ids.ts";

/** Store of uploaded pictures; the service generates the names (S20). */
export interface PictureStore {
  /** Resolves when the picture is durable. */
  write(name: string, bytes: Uint8Array): Promise<void>;
  /** Null when it does not exist; rejects when the store fails. */
  read(name: string): Promise<Buffer | null>;
  /** Resolves also when it does not exist. */
  remove(name: string): Promise<void>;
}

/** Rejects also when it does not exist. */
export async function readStored(store: Pick<PictureStore, "read">, name: string): Promise<Buffer> {
  const bytes = await store.read(name);
  if (bytes === null) throw new Error("the stored picture is gone");
  return bytes;
}

const namePattern = /^[A-Za-z0-9_-]{22}\.webp$/;

/** Whether the service generated it. */
export const isPictureName = (name: string): boolean => namePattern.test(name);

/** Returns the name; throws for one that the service did not generate. */
export function requirePictureName(name: string): string {
  if (!isPictureName(name)) throw new Error("not the name of a picture");
  return name;
}

export const newPictureName = (): string => `${randomId()}.webp`;

/** Pictures in `avatars/` below DATA_DIR, spread over folders by the beginning of their names. */
export function createFolderStore(config: Pick<Config, "DATA_DIR">): PictureStore {
  const root = resolve(config.DATA_DIR, "avatars");
  const folderOf = (name: string): string => join(root, requirePictureName(name).slice(0, 2));
  return {
    write: async (name, bytes) => {
      const folder = folderOf(name);
      await mkdir(folder, { recursive: true });
      const unfinished = join(folder, unfinishedOf(name));
      try {
        await writeThrough(unfinished, bytes);
        await rename(unfinished, join(folder, name));
      } catch (error) {
        await rm(unfinished, { force: true }).catch(() => undefined);
        throw error;
      }
    },
    read: async (name) =>
      readFile(join(folderOf(name), name)).catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return null;
        throw error;
      }),
    remove: async (name) => {
      // A killed process leaves the temporary file.
      for (const file of [name, unfinishedOf(name)])
        await rm(join(folderOf(name), file), { force: true });
    },
  };
}

const unfinishedOf = (name: string) => `${name}.part`;

async function writeThrough(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, "wx");
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}
