import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { join } from "node:path";
import { Transform, Writable, type Readable, type TransformCallback } from "node:stream";
import { pipeline } from "node:stream/promises";
import { callbackify } from "node:util";
import { createGunzip, createGzip } from "node:zlib";
import { BackupRefused } from "./refusal.ts";

/** Size and digest of a file as it lies in the folder. */
export interface StoredFile {
  bytes: number;
  sha256: string;
}

/** Only the user who makes a backup may read it: it contains personal data and hashes of secrets. */
export const privateFile = { flag: "wx", mode: 0o600, flush: true } as const;
export const privateFolder = { recursive: true, mode: 0o700 } as const;

const lineFeed = 10;
/** Names of pictures, with size and digest. */
const maxLine = 256;

/** Counts and digests what passes through. */
class Meter extends Transform {
  bytes = 0;
  lines = 0;
  readonly #hash = createHash("sha256");

  override _transform(chunk: Buffer, _encoding: string, done: TransformCallback): void {
    this.bytes += chunk.length;
    this.#hash.update(chunk);
    for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, at + 1))
      this.lines += 1;
    done(null, chunk);
  }

  stored(): StoredFile {
    return { bytes: this.bytes, sha256: this.#hash.digest("hex") };
  }
}

/** Writes lines to a new compressed file. */
export async function writeLines(
  path: string,
  lines: Readable | AsyncIterable<string>,
  signal: AbortSignal,
): Promise<StoredFile & { lines: number }> {
  const [plain, packed] = [new Meter(), new Meter()];
  const target = createWriteStream(path, { ...privateFile, flags: privateFile.flag });
  await pipeline(lines, plain, createGzip(), packed, target, { signal });
  return { ...packed.stored(), lines: plain.lines };
}

/**
 * Writes the lines of a file to `target` and ends it. Throws `backup:damaged`, at the latest after the last line, if the
 * file is not the one that was written; errors of `target` stay as they are.
 */
export async function readLines(
  folder: string,
  name: string,
  expected: StoredFile & { lines: number },
  target: Writable,
): Promise<void> {
  const [packed, plain] = [new Meter(), new Meter()];
  const file = createReadStream(join(folder, name));
  try {
    await pipeline(file, packed, createGunzip(), plain, target);
  } catch (error) {
    throw fileFault(name, error) ?? error;
  }
  const { bytes, sha256 } = packed.stored();
  if (bytes !== expected.bytes || sha256 !== expected.sha256 || plain.lines !== expected.lines)
    throw new BackupRefused("backup:damaged", name);
}

/** What an error of the file system or of the decompression says about a file; null for any other error. */
export function fileFault(name: string, error: unknown): BackupRefused | null {
  const { code = "", syscall, message } = error as NodeJS.ErrnoException;
  if (code === "ENOENT" || code.startsWith("Z_"))
    return new BackupRefused("backup:damaged", name, { cause: error });
  if (syscall === undefined) return null;
  return new BackupRefused("backup:folder_unusable", message, { cause: error });
}

/** Splits text at the ends of lines, each of which is short. */
class LineSplitter {
  #rest = "";

  /** The lines that this chunk completes. */
  push(chunk: Buffer): string[] {
    const lines = (this.#rest + chunk.toString("latin1")).split("\n");
    this.#rest = lines.pop() ?? "";
    if (this.#rest.length > maxLine)
      throw new BackupRefused("backup:damaged", "a line is too long");
    return lines;
  }
}

export async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const splitter = new LineSplitter();
  for await (const chunk of chunks) yield* splitter.push(chunk);
}

/** A target of `readLines` that calls `use` with one line after the other. */
export function lineSink(use: (line: string) => Promise<void>): Writable {
  const splitter = new LineSplitter();
  const each = callbackify(async (chunk: Buffer) => {
    for (const line of splitter.push(chunk)) await use(line);
  });
  return new Writable({ write: (chunk: Buffer, _encoding, done) => each(chunk, done) });
}
