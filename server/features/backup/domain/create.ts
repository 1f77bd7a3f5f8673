import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { SchemaChanged, withSnapshot, type Snapshot } from "../../../../db/backup/snapshot.ts";
import type { Config } from "../../../platform/config/config.ts";
import { randomId } from "../../../platform/ids.ts";
import { keyIdOf } from "../../../platform/security/tokens.ts";
import { serviceVersion } from "../../../platform/version.ts";
import { createPictureStore } from "../../avatars/domain/create-picture-store.ts";
import { fileFault, privateFolder, writeLines } from "./files.ts";
import { manifestForm, writeManifest, type Manifest, type StoredTable } from "./manifest.ts";
import { copyPictures } from "./pictures.ts";
import { BackupRefused } from "./refusal.ts";

const tableFolder = "tables";
export const tableFile = (name: string): string => join(tableFolder, `${name}.copy.gz`);

/** SQLSTATE of a lock that was not available in time. */
const lockNotAvailable = "55P03";

export interface BackupOptions {
  config: Pick<Config, "APP_SECRET" | "DATA_DIR" | "AVATAR_STORE">;
  databaseUrl: string;
  /** Must not exist, or be empty. */
  folder: string;
  signal: AbortSignal;
}

/**
 * Copies the database as of one moment, and the uploaded avatars of a local store, while the service runs (BOOT-51).
 * An aborted or failed backup leaves the folder empty.
 */
export async function createBackup(options: BackupOptions): Promise<Manifest> {
  const { folder, databaseUrl } = options;
  await takeFolder(folder);
  try {
    return await withSnapshot(databaseUrl, (snapshot) => copy(snapshot, options));
  } catch (error) {
    for (const name of await readdir(folder))
      await rm(join(folder, name), { recursive: true, force: true });
    throw refusalOf(error);
  }
}

/** Of two backups to one folder, one makes the folder of the tables. */
async function takeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, privateFolder);
    if ((await readdir(folder)).length > 0) throw new BackupRefused("backup:folder_not_empty");
    await mkdir(join(folder, tableFolder), { mode: privateFolder.mode });
  } catch (error) {
    throw fileFault(folder, error) ?? error;
  }
}

async function copy(snapshot: Snapshot, options: BackupOptions): Promise<Manifest> {
  const { config, folder, signal } = options;
  const tables: StoredTable[] = [];
  for (const table of snapshot.tables) {
    const path = join(folder, tableFile(table.name));
    const { lines: rows, ...stored } = await writeLines(path, snapshot.readTable(table), signal);
    tables.push({ ...table, rows, ...stored });
  }
  const manifest: Manifest = {
    form: manifestForm,
    id: randomId(),
    release: serviceVersion,
    taken_at: snapshot.takenAt.toISOString(),
    secret: keyIdOf(config.APP_SECRET),
    migrations: snapshot.migrations,
    tables,
    sequences: snapshot.sequences,
    pictures: await picturesOf(snapshot, options),
  };
  await writeManifest(folder, manifest);
  return manifest;
}

async function picturesOf(
  snapshot: Snapshot,
  { config, folder, signal }: BackupOptions,
): Promise<Manifest["pictures"]> {
  if (config.AVATAR_STORE !== "") return { bucket: withoutCredentials(config.AVATAR_STORE) };
  return copyPictures(folder, snapshot.pictureNames(), createPictureStore(config), signal);
}

function withoutCredentials(address: string): string {
  const { origin, pathname } = new URL(address);
  return `${origin}${pathname}`;
}

function refusalOf(error: unknown): unknown {
  if (error instanceof SchemaChanged) return new BackupRefused("backup:schema_changed");
  const { code } = error as { code?: unknown };
  if (code === lockNotAvailable) return new BackupRefused("backup:blocked", "", { cause: error });
  return fileFault("", error) ?? error;
}
