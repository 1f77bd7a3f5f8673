import { hash } from "node:crypto";
import type { EntityManager } from "@mikro-orm/postgresql";
import { findAssets, insertAssets } from "../../../db/queries/archive/codex-assets.ts";
import { Compile } from "typebox/compile";
import { maxAssets, SourceAsset, type AssetRole, type ImportEnvelope } from "../../envelope/contract.ts";
import type { ProblemList } from "../../envelope/problem-list.ts";
import { shapeProblems } from "../../envelope/shape-problems.ts";

/** Bytes one file may have. */
export const maxAssetBytes = 16 * 1024 * 1024;
const batchSize = 64;
/** Problems listed of one file. */
const maxPerAsset = 20;

export interface KnownAsset {
  hash: string;
  mediaType: string;
  bytes: number;
  role: AssetRole | null;
}

/** What references of entities can point at: files of the envelope, and what earlier imports brought. */
export interface AssetIndex {
  byPath: ReadonlyMap<string, KnownAsset>;
  /** Null when no asset has this hash. */
  byHash(hash: string): Promise<KnownAsset | null>;
  /** Stores the bytes of what is new, read again in batches. Returns how many there were. */
  storeNew(): Promise<number>;
}

/** Who waits for the files, and may lose patience. */
export interface Watch {
  signal?: AbortSignal | undefined;
  onProgress?: (done: number) => void;
}

const shape = Compile(SourceAsset);

/** Reads and hashes every file of the envelope once; files that cannot be used become problems. */
export async function indexAssets(
  em: EntityManager,
  envelope: ImportEnvelope,
  problems: ProblemList,
  watch: Watch = {},
): Promise<AssetIndex> {
  const byPath = new Map<string, KnownAsset>();
  const byHash = new Map<string, KnownAsset | null>();
  for (const [index, source] of envelope.assets.entries()) {
    watch.signal?.throwIfAborted();
    watch.onProgress?.(index);
    if (index >= maxAssets) {
      problems.add("assets", "", `are more than ${maxAssets}`);
      break;
    }
    if (!shape.Check(source)) {
      for (const { place, problem } of shapeProblems(shape.Errors(source), maxPerAsset))
        problems.add(`assets[${index}]`, place, problem);
      continue;
    }
    const { path, media_type, role } = source;
    const entity = `asset ${path}`;
    if (byPath.has(path)) problems.add(entity, "", "is listed twice");
    const content = await envelope.readAsset(path).catch((error: unknown) => {
      problems.add(entity, "", error instanceof Error ? error.message : "cannot be read");
      return null;
    });
    if (content === null) continue;
    if (content.byteLength > maxAssetBytes)
      problems.add(entity, "", `has more than ${maxAssetBytes} bytes`);
    const digest = hash("sha256", content, "hex");
    const known = { hash: digest, mediaType: media_type, bytes: content.byteLength };
    byPath.set(path, { ...known, role: role ?? null });
  }
  // The type declared first stays, so an asset says the same wherever it is referred to (COD-19).
  const registered = await findAssets(em, [
    ...new Set([...byPath.values()].map((one) => one.hash)),
  ]);
  for (const [path, asset] of byPath) {
    const first = registered.get(asset.hash) ?? byHash.get(asset.hash);
    const settled = { ...asset, mediaType: first?.mediaType ?? asset.mediaType };
    byPath.set(path, settled);
    byHash.set(asset.hash, settled);
  }
  return {
    byPath,
    async byHash(wanted) {
      const known = byHash.get(wanted);
      if (known !== undefined) return known;
      const found = (await findAssets(em, [wanted])).get(wanted);
      const asset = found === undefined ? null : { hash: wanted, ...found, role: null };
      byHash.set(wanted, asset);
      return asset;
    },
    async storeNew() {
      const fresh = new Map<string, string>();
      for (const [path, asset] of byPath)
        if (!registered.has(asset.hash)) fresh.set(asset.hash, path);
      // In one order, because two imports that wait for files of each other would wait for ever.
      const paths = [...fresh.keys()].sort().flatMap((hash) => fresh.get(hash) ?? []);
      await storeInBatches(em, envelope, paths, { byPath, signal: watch.signal });
      return fresh.size;
    },
  };
}

async function storeInBatches(
  em: EntityManager,
  envelope: ImportEnvelope,
  paths: readonly string[],
  { byPath, signal }: Pick<AssetIndex, "byPath"> & Pick<Watch, "signal">,
): Promise<void> {
  for (let at = 0; at < paths.length; at += batchSize) {
    signal?.throwIfAborted();
    const rows = [];
    for (const path of paths.slice(at, at + batchSize)) {
      const asset = byPath.get(path);
      const content = await envelope.readAsset(path);
      if (asset === undefined || hash("sha256", content, "hex") !== asset.hash)
        throw new Error(`asset ${path} changed while it was imported`);
      rows.push({ hash: asset.hash, mediaType: asset.mediaType, content });
    }
    await insertAssets(em, rows);
  }
}
