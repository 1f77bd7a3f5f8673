import { hash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, extname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { ImportEnvelope } from "./contract.ts";

/** Folder beside an envelope file that holds its assets. */
const assetFolder = "assets";

/**
 * Writes an envelope with its assets beside it; packed when the name ends with `.gz`. The file appears when
 * it is complete.
 */
export async function writeEnvelopeFile(envelope: ImportEnvelope, path: string): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true });
  const paths = await copyAssets(envelope, folder);
  const partial = `${path}.part`;
  try {
    const source = Readable.from(textOf(envelope, paths));
    const target = createWriteStream(partial);
    if (path.endsWith(".gz")) await pipeline(source, createGzip(), target);
    else await pipeline(source, target);
    await rename(partial, path);
  } finally {
    await rm(partial, { force: true });
  }
}

/** Path in the source -> path beside the file. Equal bytes are one file. */
async function copyAssets(envelope: ImportEnvelope, folder: string): Promise<Map<string, string>> {
  const paths = new Map<string, string>();
  if (envelope.assets.length > 0) await mkdir(join(folder, assetFolder), { recursive: true });
  for (const { path } of envelope.assets) {
    const content = await envelope.readAsset(path);
    const name = `${assetFolder}/${hash("sha256", content, "hex")}${extname(path)}`;
    await writeFile(join(folder, name), content);
    paths.set(path, name);
  }
  return paths;
}

async function* textOf(
  envelope: ImportEnvelope,
  paths: ReadonlyMap<string, string>,
): AsyncGenerator<string> {
  const moved = (path: string) => paths.get(path) ?? path;
  yield `${JSON.stringify(envelope.header).slice(0, -1)},\n"entities":[`;
  let separator = "\n";
  for await (const entity of envelope.entities()) {
    const icon = entity.icon ? { icon: moved(entity.icon) } : {};
    const assets = entity.assets?.map((one) => {
      if (typeof one === "string") return moved(one);
      return "path" in one ? { ...one, path: moved(one.path) } : one;
    });
    yield separator + JSON.stringify({ ...entity, ...icon, ...(assets ? { assets } : {}) });
    separator = ",\n";
  }
  const assets = envelope.assets.map((asset) => ({ ...asset, path: moved(asset.path) }));
  // Different files with equal bytes were one picture all along.
  const once = [...new Map(assets.map((asset) => [asset.path, asset])).values()];
  yield `],\n"assets":${JSON.stringify(once)},\n"locales":${JSON.stringify(envelope.locales)}}\n`;
}
