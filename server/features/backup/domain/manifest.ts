import { createHash } from "node:crypto";
import { open, rename } from "node:fs/promises";
import { join } from "node:path";
import Type, { type Static } from "typebox";
import Value from "typebox/value";
import { BackupRefused } from "./refusal.ts";

/** Raised when an older release could not read a newer backup. */
const form = 1;
const file = "manifest.json";
const maxBytes = 4 * 1024 * 1024;

/** Names of Postgres as migrations make them; they become names of files. */
const Name = Type.String({ pattern: "^[a-z_][a-z0-9_]{0,62}$" });
const Count = Type.Integer({ minimum: 0 });
const Digest = Type.String({ pattern: "^[0-9a-f]{64}$" });
/** A file as it lies in the folder. */
const StoredFile = { bytes: Count, sha256: Digest };

export const ManifestSchema = Type.Object({
  form: Type.Literal(form),
  id: Type.String({ minLength: 22, maxLength: 22 }),
  release: Type.String({ maxLength: 64 }),
  taken_at: Type.String({ pattern: "^\\d{4}-\\d\\d-\\d\\dT[\\d:.]{8,15}Z$" }),
  /** Key id of APP_SECRET, which every token shows as well. */
  secret: Type.String({ maxLength: 16 }),
  /** Applied migrations, in their order. */
  migrations: Type.Array(Type.String({ maxLength: 255 }), { minItems: 1, maxItems: 10_000 }),
  tables: Type.Array(
    Type.Object({ name: Name, columns: Type.Array(Name), rows: Count, ...StoredFile }),
    { maxItems: 10_000 },
  ),
  sequences: Type.Array(
    Type.Object({
      name: Name,
      last: Type.Union([Type.String({ pattern: "^\\d{1,19}$" }), Type.Null()]),
    }),
    { maxItems: 10_000 },
  ),
  /** Uploaded avatars in the folder, listed by a file; or where the bucket is that has them. */
  pictures: Type.Union([
    Type.Object({ count: Count, missing: Count, ...StoredFile }),
    Type.Object({ bucket: Type.String({ maxLength: 2_048 }) }),
  ]),
});

/** What a backup contains; written last, so that an unfinished one has none. */
export type Manifest = Static<typeof ManifestSchema>;
export type StoredTable = Manifest["tables"][number];
export const manifestForm = form;

const digestOf = (backup: unknown): string =>
  createHash("sha256")
    .update(JSON.stringify(backup ?? null))
    .digest("hex");

/** Appears with its name when it is complete and on the disk. */
export async function writeManifest(folder: string, backup: Manifest): Promise<void> {
  const unfinished = join(folder, `${file}.part`);
  const handle = await open(unfinished, "wx", 0o600);
  try {
    await handle.writeFile(`${JSON.stringify({ sha256: digestOf(backup), backup }, null, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(unfinished, join(folder, file));
}

/** Throws `backup:not_found`, `backup:damaged` or `backup:newer_release`. */
export async function readManifest(folder: string): Promise<Manifest> {
  const content = parse(await readText(join(folder, file)));
  const { sha256, backup } = content as { sha256?: unknown; backup?: { form?: unknown } };
  if (sha256 !== digestOf(backup)) throw new BackupRefused("backup:damaged", file);
  if (Number(backup?.form) > form) throw new BackupRefused("backup:newer_release", file);
  if (!Value.Check(ManifestSchema, backup)) throw new BackupRefused("backup:damaged", file);
  return backup;
}

async function readText(path: string): Promise<string> {
  const handle = await open(path).catch((cause: NodeJS.ErrnoException) => {
    const isAbsent = cause.code === "ENOENT" || cause.code === "ENOTDIR";
    const code = isAbsent ? "backup:not_found" : "backup:folder_unusable";
    throw new BackupRefused(code, cause.message, { cause });
  });
  try {
    const { size } = await handle.stat();
    if (size > maxBytes) throw new BackupRefused("backup:damaged", file);
    return await handle.readFile("utf8");
  } finally {
    await handle.close();
  }
}

function parse(text: string): object {
  try {
    const content: unknown = JSON.parse(text);
    if (typeof content === "object" && content !== null) return content;
  } catch (cause) {
    throw new BackupRefused("backup:damaged", file, { cause });
  }
  throw new BackupRefused("backup:damaged", file);
}
