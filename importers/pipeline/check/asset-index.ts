import { hash } from "node:crypto";
import type { EntityManager } from "@mikro-orm/postgresql";
import { Compile } from "typebox/compile";
import {
  findAssets,
  insertAssets,
  type NewAsset,
} from "../../../db/queries/archive/codex-assets.ts";
import {
  ImportRefused,
  maxAssetBytes,
  maxAssets,
  SourceAsset,
  type AssetRole,
  type ImportEnvelope,
} from "../../envelope/contract.ts";
import type { ProblemList } from "../../envelope/problem-list.ts";
import { shapeProblems } from "../../envelope/shape-problems.ts";

/** Files and bytes that one statement stores; a larger file has a statement of its own. */
export const maxBatchFiles = 64;
export const maxBatchBytes = 8 * 1024 * 1024;
/** Problems listed of one file. */
const maxPerAsset = 20;

export interface KnownAsset {
  hash: string;
  mediaType: string;
  bytes: number;
  role: AssetRole | null;
}

/** The files that entities may refer to. */
export interface AssetLookup {
  byPath: ReadonlyMap<string, KnownAsset>;
  /** Null for a hash without an asset. */
  byHash(hash: string): Promise<KnownAsset | null>;
}

export interface AssetProgress {
  signal?: AbortSignal | undefined;
  onProgress?: (done: number) => void;
}

const shape = Compile(SourceAsset);

/** Reads and hashes every file of the envelope once; unusable files become problems. */
export async function indexAssets(
  em: EntityManager,
  envelope: ImportEnvelope,
  problems: ProblemList,
  progress: AssetProgress = {},
): Promise<AssetIndex> {
  const files = await hashFiles(envelope, problems, progress);
  const hashes = new Set([...files.values()].map((file) => file.hash));
  const stored = await findAssets(em, [...hashes]);
  return new AssetIndex(em, envelope, files, stored, progress.signal);
}

async function hashFiles(
  envelope: ImportEnvelope,
  problems: ProblemList,
  { signal, onProgress }: AssetProgress,
): Promise<Map<string, KnownAsset>> {
  const files = new Map<string, KnownAsset>();
  for (const [index, source] of envelope.assets.entries()) {
    signal?.throwIfAborted();
    onProgress?.(index);
    if (index >= maxAssets) {
      problems.add("assets", "", `are more than ${maxAssets}`);
      break;
    }
    if (!shape.Check(source)) {
      for (const { place, problem } of shapeProblems(shape.Errors(source), maxPerAsset))
        problems.add(`assets[${index}]`, place, problem);
      continue;
    }
    const { path, media_type: mediaType, role = null } = source;
    const entity = `asset ${path}`;
    if (files.has(path)) problems.add(entity, "", "is listed twice");
    const content = await envelope.readAsset(path).catch((error: unknown) => {
      problems.add(entity, "", error instanceof Error ? error.message : "cannot be read");
      return null;
    });
    if (content === null) continue;
    const bytes = content.byteLength;
    if (bytes > maxAssetBytes) problems.add(entity, "", `has more than ${maxAssetBytes} bytes`);
    files.set(path, { hash: hash("sha256", content, "hex"), mediaType, bytes, role });
  }
  return files;
}

/** The files of an envelope and the assets of earlier imports. */
export class AssetIndex implements AssetLookup {
  readonly byPath: ReadonlyMap<string, KnownAsset>;
  readonly #em: EntityManager;
  readonly #envelope: ImportEnvelope;
  readonly #signal: AbortSignal | undefined;
  readonly #byHash = new Map<string, KnownAsset | null>();
  /** The path of each file that is not stored yet, by hash. */
  readonly #newPaths = new Map<string, string>();

  constructor(
    em: EntityManager,
    envelope: ImportEnvelope,
    files: ReadonlyMap<string, KnownAsset>,
    stored: ReadonlyMap<string, { mediaType: string }>,
    signal?: AbortSignal,
  ) {
    this.#em = em;
    this.#envelope = envelope;
    this.#signal = signal;
    const byPath = new Map<string, KnownAsset>();
    for (const [path, file] of files) {
      // The first declared media type stays, so every reference to an asset shows the same (COD-19).
      const first = stored.get(file.hash) ?? this.#byHash.get(file.hash);
      const asset = { ...file, mediaType: first?.mediaType ?? file.mediaType };
      byPath.set(path, asset);
      this.#byHash.set(file.hash, asset);
      if (!stored.has(file.hash)) this.#newPaths.set(file.hash, path);
    }
    this.byPath = byPath;
  }

  /** Files that `storeNew` would store. */
  get newFiles(): { count: number; bytes: number } {
    let bytes = 0;
    for (const path of this.#newPaths.values()) bytes += this.byPath.get(path)?.bytes ?? 0;
    return { count: this.#newPaths.size, bytes };
  }

  async byHash(wanted: string): Promise<KnownAsset | null> {
    const known = this.#byHash.get(wanted);
    if (known !== undefined) return known;
    const found = (await findAssets(this.#em, [wanted])).get(wanted);
    const asset = found === undefined ? null : { hash: wanted, ...found, role: null };
    this.#byHash.set(wanted, asset);
    return asset;
  }

  /** Stores the new files, which are read again in batches. */
  async storeNew(): Promise<void> {
    // Sorted: two imports that insert the same files in different orders would deadlock.
    const hashes = [...this.#newPaths.keys()].sort();
    let batch: NewAsset[] = [];
    let bytes = 0;
    for (const wanted of hashes) {
      this.#signal?.throwIfAborted();
      const size = this.#byHash.get(wanted)?.bytes ?? 0;
      if (batch.length === maxBatchFiles || bytes + size > maxBatchBytes) {
        await insertAssets(this.#em, batch);
        [batch, bytes] = [[], 0];
      }
      batch.push(await this.#readRow(wanted));
      bytes += size;
    }
    await insertAssets(this.#em, batch);
  }

  async #readRow(wanted: string): Promise<NewAsset> {
    const path = this.#newPaths.get(wanted) ?? "";
    const content = await this.#envelope.readAsset(path).catch(() => null);
    const asset = this.byPath.get(path);
    if (content === null || asset === undefined || hash("sha256", content, "hex") !== wanted) {
      const problem = "changed while it was imported";
      throw new ImportRefused([{ entity: `asset ${path}`, place: "", problem }]);
    }
    return { hash: wanted, mediaType: asset.mediaType, content };
  }
}
