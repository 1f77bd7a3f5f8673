import { Writable } from "node:stream";
import { migrations } from "../../../../db/migrations/index.ts";
import { tableFile } from "./create.ts";
import { readLines } from "./files.ts";
import { readManifest, type Manifest } from "./manifest.ts";
import { readPictures } from "./pictures.ts";
import { BackupRefused } from "./refusal.ts";

/**
 * Reads all of a backup and compares it with its manifest. Throws `backup:damaged` with the first file that differs,
 * and `backup:newer_release` if this release cannot restore it.
 */
export async function checkBackup(folder: string): Promise<Manifest> {
  const manifest = await readManifest(folder);
  const known = new Set<string>(migrations.map(({ name }) => name));
  const unknown = manifest.migrations.find((name) => !known.has(name));
  if (unknown !== undefined)
    throw new BackupRefused("backup:newer_release", `${manifest.release} with ${unknown}`);
  for (const { name, rows, ...stored } of manifest.tables)
    await readLines(folder, tableFile(name), { ...stored, lines: rows }, nowhere());
  const { pictures } = manifest;
  if ("count" in pictures) await readPictures(folder, pictures, () => Promise.resolve());
  return manifest;
}

const nowhere = () => new Writable({ write: (_chunk, _encoding, done) => done() });

/** What a person asks about a backup, in the words of the console. */
export function describeBackup(manifest: Manifest): Record<string, unknown> {
  const { release, taken_at, tables, pictures } = manifest;
  const sum = (of: "rows" | "bytes") => tables.reduce((total, table) => total + table[of], 0);
  return {
    release,
    migration: manifest.migrations.at(-1),
    taken_at,
    num_tables: tables.length,
    num_rows: sum("rows"),
    num_bytes: sum("bytes"),
    ...("bucket" in pictures
      ? { pictures: `not copied, they are in ${pictures.bucket}` }
      : { num_pictures: pictures.count, num_pictures_missing: pictures.missing }),
  };
}
