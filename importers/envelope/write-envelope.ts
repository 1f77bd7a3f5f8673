import { hash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, extname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { readReference } from "./asset-reference.ts";
import {
  ImportRefused,
  type AssetReference,
  type AssetRole,
  type ImportEnvelope,
  type SourceAsset,
  type SourceEntity,
} from "./contract.ts";
import { requireHeader } from "./header.ts";
import { findValueProblems, type ValueProblem } from "./json-problems.ts";
import { maxProblems } from "./problem-list.ts";
import { problemOf, unreadable } from "./source-json.ts";

/** Folder of the assets, beside the envelope file. */
const assetFolder = "assets";

/**
 * Writes an envelope file, gzipped for a name in `.gz`, with its assets beside it. The file appears under its name
 * once it is complete.
 */
export async function writeEnvelopeFile(envelope: ImportEnvelope, path: string): Promise<void> {
  requireHeader(envelope);
  const folder = dirname(path);
  await mkdir(folder, { recursive: true });
  const files = await copyAssets(envelope, folder);
  const partial = `${path}.part`;
  try {
    const source = Readable.from(textOf(envelope, files));
    const target = createWriteStream(partial);
    if (path.endsWith(".gz")) await pipeline(source, createGzip(), target);
    else await pipeline(source, target);
    await rename(partial, path);
  } finally {
    await rm(partial, { force: true });
  }
}

interface CopiedFiles {
  /** Path in the source -> path beside the file. */
  paths: ReadonlyMap<string, string>;
  /** Roles of the files, by path in the source and by hash. */
  roles: ReadonlyMap<string, AssetRole>;
}

/** Copies the assets under their hashes, so equal bytes become one file. */
async function copyAssets(envelope: ImportEnvelope, folder: string): Promise<CopiedFiles> {
  const paths = new Map<string, string>();
  const roles = new Map<string, AssetRole>();
  if (envelope.assets.length > 0) await mkdir(join(folder, assetFolder), { recursive: true });
  for (const { path, role } of envelope.assets) {
    const content = await envelope.readAsset(path).catch((error: unknown) => {
      throw unreadable(`asset ${path}`, problemOf(error));
    });
    const digest = hash("sha256", content, "hex");
    const name = `${assetFolder}/${digest}${extname(path)}`;
    await writeFile(join(folder, name), content);
    paths.set(path, name);
    if (role !== undefined) roles.set(path, role).set(digest, role);
    // A hash stands for the last file with these bytes.
    else roles.delete(digest);
  }
  return { paths, roles };
}

/**
 * References carry the roles: several files of the source, each with its own role, may be one file here.
 */
async function* textOf(
  envelope: ImportEnvelope,
  { paths, roles }: CopiedFiles,
): AsyncGenerator<string> {
  const copiedPath = (path: string) => paths.get(path) ?? path;
  const referenceTo = (source: AssetReference): AssetReference => {
    const { name, role } = readReference(source);
    // The check step reports it.
    if (name === null) return source;
    const known = role ?? roles.get(name);
    const isHash = typeof source !== "string" && "hash" in source;
    const place = isHash ? { hash: name } : { path: copiedPath(name) };
    if (known !== undefined) return { ...place, role: known };
    return isHash ? source : copiedPath(name);
  };
  yield `${JSON.stringify(envelope.header).slice(0, -1)},\n"entities":[`;
  let separator = "\n";
  for await (const entity of envelope.entities()) {
    requireExactValues(entity);
    const icon = entity.icon ? { icon: copiedPath(entity.icon) } : {};
    const assets = entity.assets?.map(referenceTo);
    yield separator + JSON.stringify({ ...entity, ...icon, ...(assets ? { assets } : {}) });
    separator = ",\n";
  }
  const rows = new Map<string, SourceAsset>();
  for (const { path, media_type } of envelope.assets) {
    const name = copiedPath(path);
    // The first declared media type of equal files counts (COD-19).
    if (!rows.has(name)) rows.set(name, { path: name, media_type });
  }
  const assets = JSON.stringify([...rows.values()]);
  yield `],\n"assets":${assets},\n"locales":${JSON.stringify(envelope.locales)}}\n`;
}

/** Refuses values that the file could not hold exactly. */
function requireExactValues(entity: SourceEntity): void {
  const found: ValueProblem[] = [];
  findValueProblems(entity, "", found, maxProblems);
  const label = entity.id ?? entity.upstream_key;
  if (found.length > 0)
    throw new ImportRefused(found.map((problem) => ({ entity: label, ...problem })));
}
