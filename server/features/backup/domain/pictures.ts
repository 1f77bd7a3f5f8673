import { hash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isPictureName, type PictureStore } from "../../avatars/domain/picture-store.ts";
import {
  fileFault,
  lineSink,
  linesOf,
  privateFile,
  privateFolder,
  readLines,
  writeLines,
} from "./files.ts";
import type { Manifest } from "./manifest.ts";
import { BackupRefused } from "./refusal.ts";

/** Name, bytes and digest of each picture, one a line. */
const index = "pictures.tsv.gz";

type StoredPictures = Extract<Manifest["pictures"], { count: number }>;

/** Spread over folders like those of the store. */
const pathOf = (name: string): string => join("pictures", name.slice(0, 2), name);

/** Copies the named pictures. One that is gone was removed since the snapshot, or was missing before. */
export async function copyPictures(
  folder: string,
  names: AsyncIterable<Buffer>,
  store: Pick<PictureStore, "read">,
  signal: AbortSignal,
): Promise<StoredPictures> {
  let missing = 0;
  async function* lines(): AsyncGenerator<string> {
    for await (const name of linesOf(names)) {
      // The store refuses any other name.
      const bytes = await store.read(name);
      if (bytes === null) missing += 1;
      else yield `${name}\t${bytes.length}\t${await copy(name, bytes)}\n`;
    }
  }
  const copy = async (name: string, bytes: Buffer): Promise<string> => {
    const path = join(folder, pathOf(name));
    await mkdir(join(path, ".."), privateFolder);
    await writeFile(path, bytes, privateFile);
    return hash("sha256", bytes);
  };
  const { lines: count, ...stored } = await writeLines(join(folder, index), lines(), signal);
  return { count, missing, ...stored };
}

/** Calls `use` with each picture, checked; throws `backup:damaged` for one that is not as it was. */
export async function readPictures(
  folder: string,
  { count, ...stored }: StoredPictures,
  use: (name: string, bytes: Buffer) => Promise<void>,
): Promise<void> {
  const each = lineSink(async (line) => use(...(await readPicture(folder, line))));
  await readLines(folder, index, { ...stored, lines: count }, each);
}

async function readPicture(folder: string, line: string): Promise<[name: string, bytes: Buffer]> {
  const [name = "", size, digest] = line.split("\t");
  if (!isPictureName(name)) throw new BackupRefused("backup:damaged", index);
  const path = pathOf(name);
  const bytes = await readFile(join(folder, path)).catch((error: unknown) => {
    throw fileFault(path, error) ?? error;
  });
  if (String(bytes.length) !== size || hash("sha256", bytes) !== digest)
    throw new BackupRefused("backup:damaged", path);
  return [name, bytes];
}
