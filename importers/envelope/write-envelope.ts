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

/** Folder beside an envelope file that holds its assets. */
const assetFolder = "assets";

/**
 * Writes an envelope with its assets beside it; packed when the name ends with `.gz`. The file appears when
 * it is complete.
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
  /** Roles of the files, by what an entity may call them: path in the source or hash. */
  roles: ReadonlyMap<string, AssetRole>;
}

/** Equal bytes are one file. */
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
    // What is called by its hash is the last file with these bytes.
    else roles.delete(digest);
  }
  return { paths, roles };
}

/**
 * The roles stand with the references: what is one file here may have been several in the source, each with a
 * role of its own.
 */
async function* textOf(
  envelope: ImportEnvelope,
  { paths, roles }: CopiedFiles,
): AsyncGenerator<string> {
  const moved = (path: string) => paths.get(path) ?? path;
  const referenceTo = (source: AssetReference): AssetReference => {
    const { name, role } = readReference(source);
    // The importer says what is wrong with it.
    if (name === null) return source;
    const known = role ?? roles.get(name);
    const isHash = typeof source !== "string" && "hash" in source;
    const place = isHash ? { hash: name } : { path: moved(name) };
    if (known !== undefined) return { ...place, role: known };
    return isHash ? source : moved(name);
  };
  yield `${JSON.stringify(envelope.header).slice(0, -1)},\n"entities":[`;
  let separator = "\n";
  for await (const entity of envelope.entities()) {
    checkValues(entity);
    const icon = entity.icon ? { icon: moved(entity.icon) } : {};
    const assets = entity.assets?.map(referenceTo);
    yield separator + JSON.stringify({ ...entity, ...icon, ...(assets ? { assets } : {}) });
    separator = ",\n";
  }
  const rows = new Map<string, SourceAsset>();
  for (const { path, media_type } of envelope.assets) {
    const name = moved(path);
    // Of equal files the type declared first is the one that counts (COD-19).
    if (!rows.has(name)) rows.set(name, { path: name, media_type });
  }
  const assets = JSON.stringify([...rows.values()]);
  yield `],\n"assets":${assets},\n"locales":${JSON.stringify(envelope.locales)}}\n`;
}

/** What could not be kept exactly would be another value in the file, or null. */
function checkValues(entity: SourceEntity): void {
  const found: ValueProblem[] = [];
  findValueProblems(entity, "", found, maxProblems);
  const label = entity.id ?? entity.upstream_key;
  if (found.length > 0)
    throw new ImportRefused(found.map((problem) => ({ entity: label, ...problem })));
}
