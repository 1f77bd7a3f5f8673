import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { ArchiveBody } from "./domain/archive.ts";
import { AppError } from "../../platform/errors.ts";

/** Maximum bytes of a document; a larger diff is available as pages of the changelog. */
const maxBytes = 32 * 1024 * 1024;
/** Characters buffered before they are encoded. */
const blockLength = 64 * 1024;

/**
 * Time slice of a large document before it yields to other requests, which wait up to 50 ms (`npm run bench --
 * codex`, "worst wait of another reader meanwhile").
 */
const sliceMs = 8;

export function createTimeSlice() {
  let ends = performance.now() + sliceMs;
  return {
    isOver: () => performance.now() >= ends,
    async yield(): Promise<void> {
      await nextTurn();
      ends = performance.now() + sliceMs;
    },
  };
}

/** Encodes and hashes a long text incrementally, so that no step takes long. */
export function createWriter() {
  const blocks: Buffer[] = [];
  const digest = createHash("sha1");
  let text = "";
  let bytes = 0;
  const flush = () => {
    const block = Buffer.from(text);
    text = "";
    bytes += block.length;
    if (bytes > maxBytes) throw new AppError("codex:diff_too_large");
    digest.update(block);
    blocks.push(block);
  };
  return {
    add(part: string) {
      text += part;
      if (text.length >= blockLength) flush();
    },
    async finish(): Promise<ArchiveBody> {
      flush();
      const [only = Buffer.alloc(0)] = blocks;
      // A short body goes into its envelope without a copy.
      const content = blocks.length === 1 ? only.toString() : await join(blocks, bytes);
      return { content, etag: `"${digest.digest("base64url")}"` };
    },
  };
}

async function join(blocks: readonly Buffer[], bytes: number): Promise<Buffer> {
  // Not from the buffer pool: a cached part would keep the whole pool slab alive.
  const joined = Buffer.allocUnsafeSlow(bytes);
  const slice = createTimeSlice();
  let at = 0;
  for (const block of blocks) {
    at += block.copy(joined, at);
    if (slice.isOver()) await slice.yield();
  }
  return joined;
}
