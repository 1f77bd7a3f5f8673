import { hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, readFile, realpath, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, sep } from "node:path";
import { pipeline } from "node:stream/promises";
import { PassThrough } from "node:stream";
import { createGunzip } from "node:zlib";
import {
  ImportRefused,
  maxAssetBytes,
  maxAssets,
  maxEntities,
  type EnvelopeHeader,
  type ImportEnvelope,
  type ImportProblem,
  type IsWanted,
  type SourceAsset,
  type SourceEntity,
  type SourceTexts,
} from "./contract.ts";
import { JsonSplitter, textOf, type JsonPiece, type MemberRule } from "./json-splitter.ts";
import { parseText } from "./source-json.ts";

/** Bytes of an envelope after unpacking. */
export const maxEnvelopeBytes = 8 * 1024 * 1024 * 1024;
const [kib, mib] = [1024, 1024 * 1024];
const readBytes = mib;

/** Members of an envelope (IMP-01). */
const rules: ReadonlyMap<string, MemberRule> = new Map([
  ["format", { maxBytes: kib }],
  ["game", { maxBytes: 64 * kib }],
  ["branch", { maxBytes: 64 * kib }],
  ["patch", { maxBytes: 64 * kib }],
  // The text may be longer than the stored entity, because of escapes and blanks.
  ["entities", { maxBytes: 8 * mib, isStreamed: true }],
  ["assets", { maxBytes: 64 * kib, isStreamed: true }],
  ["locales", { maxBytes: 64 * mib }],
]);
/** A missing list would count as empty and remove everything. `assets` may be absent. */
const required = ["entities", "locales"];

/**
 * Opens an envelope file (IMP-01), plain or gzip. The first pass reads header, assets and texts, and keeps a digest
 * and an offset of each entity; a second pass reads the wanted entities one at a time. Throws ImportRefused for
 * another file.
 */
export async function openEnvelopeFile(
  path: string,
  signal?: AbortSignal,
): Promise<ImportEnvelope> {
  const members = new Map<string, unknown>();
  const assetList: unknown[] = [];
  const digests: string[] = [];
  const entityTexts: TextOffsets = { offsets: [], lengths: [] };
  const name = basename(path);
  const before = await stat(path).catch(() => null);
  if (!before?.isFile()) throw refusal(name, "there is no such file");
  const splitter = new JsonSplitter((member) => rules.get(member));
  for await (const piece of readPieces(path, name, splitter, signal)) {
    if (piece.index === null) members.set(piece.member, parse(piece, name));
    else if (piece.member === "assets") {
      if (piece.index >= maxAssets) throw refusal(name, `assets are more than ${maxAssets}`);
      assetList.push(parse(piece, name));
    } else {
      if (piece.index >= maxEntities) throw refusal(name, `entities are more than ${maxEntities}`);
      digests.push(textDigest(piece.bytes));
      entityTexts.offsets.push(piece.offset);
      entityTexts.lengths.push(piece.bytes.length);
    }
  }
  const { assets, locales = {}, entities, ...rest } = Object.fromEntries(members);
  if (entities !== undefined) throw refusal(name, "entities is not a list");
  if (assets !== undefined) throw refusal(name, "assets is not a list");
  if (typeof locales !== "object" || locales === null || Array.isArray(locales))
    throw refusal(name, "locales is no object");
  return {
    name,
    problems: memberProblems(name, splitter),
    // The check step validates them.
    header: rest as unknown as EnvelopeHeader,
    assets: assetList as SourceAsset[],
    locales: locales as SourceTexts,
    entityCount: digests.length,
    digests,
    async *entities(isWanted = () => true) {
      const changed = refusal(name, "the file changed while it was read");
      const now = await stat(path);
      if (now.size !== before.size || now.mtimeMs !== before.mtimeMs) throw changed;
      for await (const { index, bytes } of readTexts(path, entityTexts, isWanted)) {
        if (bytes === null || textDigest(bytes) !== digests[index]) throw changed;
        yield parse({ member: "entities", index, bytes }, name) as SourceEntity;
      }
    },
    readAsset: (asset) => readInside(dirname(path), asset),
  };
}

/** Missing lists and unknown members; an unknown member may be a misspelt list. */
function memberProblems(file: string, { seen, unknown }: JsonSplitter): ImportProblem[] {
  const missing = required.filter((member) => !seen.has(member));
  return [
    ...missing.map((place) => ({ entity: file, place, problem: "is missing" })),
    ...[...unknown].map((place) => ({
      entity: file,
      place,
      problem: "is no member of an envelope",
    })),
  ];
}

/** Characters of a truncated digest: 132 bits. */
const digestLength = 22;
const textDigest = (bytes: Buffer) => hash("sha256", bytes, "base64url").slice(0, digestLength);

/** Bytes of a file in `folder`; refuses links and dots that leave the folder. */
export async function readInside(folder: string, path: string): Promise<Uint8Array> {
  if (isAbsolute(path) || path.split(/[/\\]/).includes("..") || path.includes("\0"))
    throw new Error("leads out of the folder of the envelope");
  const real = await realpath(join(folder, path)).catch(() => {
    throw new Error("is not there");
  });
  if (!real.startsWith((await realpath(folder)) + sep))
    throw new Error("leads out of the folder of the envelope");
  const facts = await stat(real);
  if (!facts.isFile()) throw new Error("is no file");
  if (facts.size > maxAssetBytes) throw new Error(`has more than ${maxAssetBytes} bytes`);
  return readFile(real);
}

function refusal(file: string, problem: string): ImportRefused {
  return new ImportRefused([{ entity: file, place: "", problem }]);
}

function parse(piece: Omit<JsonPiece, "offset">, file: string): unknown {
  const { member, index } = piece;
  try {
    return parseText(textOf(piece));
  } catch (error) {
    const place = index === null ? member : `${member}[${index}]`;
    const problem = error instanceof Error ? error.message : "is no JSON";
    throw new ImportRefused([{ entity: file, place, problem }]);
  }
}

async function* readPieces(
  path: string,
  name: string,
  splitter: JsonSplitter,
  signal: AbortSignal | undefined,
): AsyncGenerator<JsonPiece> {
  let total = 0;
  try {
    for await (const chunk of await openStream(path)) {
      signal?.throwIfAborted();
      total += chunk.length;
      if (total > maxEnvelopeBytes) throw new SyntaxError("the envelope is too large");
      yield* splitter.push(chunk);
    }
    splitter.end();
  } catch (error) {
    if (error instanceof SyntaxError || isZlibError(error))
      throw refusal(name, error instanceof Error ? error.message : String(error));
    throw error;
  }
}

/** Offsets and lengths of the entity texts in the unpacked file. */
interface TextOffsets {
  offsets: number[];
  lengths: number[];
}

/** The wanted texts, in order, up to a first missing one as null; stops reading after the last. */
async function* readTexts(
  path: string,
  { offsets, lengths }: TextOffsets,
  isWanted: IsWanted,
): AsyncGenerator<{ index: number; bytes: Buffer | null }> {
  let index = -1;
  const moveOn = () => {
    do index++;
    while (index < offsets.length && !isWanted(index));
  };
  moveOn();
  if (index === offsets.length) return;
  let passed = 0;
  let parts: Buffer[] = [];
  for await (const chunk of await openStream(path)) {
    for (;;) {
      const from = (offsets[index] ?? 0) - passed;
      const to = from + (lengths[index] ?? 0);
      if (from < chunk.length) parts.push(chunk.subarray(Math.max(0, from), to));
      if (to > chunk.length) break;
      const [first = chunk] = parts;
      yield { index, bytes: parts.length === 1 ? first : Buffer.concat(parts) };
      parts = [];
      moveOn();
      if (index === offsets.length) return;
    }
    passed += chunk.length;
  }
  yield { index, bytes: null };
}

const isZlibError = (error: unknown) =>
  error instanceof Error && "code" in error && String(error.code).startsWith("Z_");

async function openStream(path: string): Promise<AsyncIterable<Buffer>> {
  const source = createReadStream(path, { highWaterMark: readBytes });
  if (!(await isGzip(path))) return source as AsyncIterable<Buffer>;
  const unpacked = new PassThrough();
  // The consumer of `unpacked` receives the error.
  pipeline(source, createGunzip({ chunkSize: readBytes }), unpacked).catch(() => {});
  return unpacked as AsyncIterable<Buffer>;
}

async function isGzip(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
    return bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b;
  } finally {
    await file.close();
  }
}
