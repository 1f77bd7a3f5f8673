import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { ArchiveBody } from "../../../db/archive.ts";
import { AppError } from "../../platform/errors.ts";

/** Bytes one document may have; a larger diff is for the changelog, page by page. */
const maxBytes = 32 * 1024 * 1024;
/** Characters gathered before they become bytes. */
const blockLength = 64 * 1024;

/**
 * How long a large document is worked at before other requests have their turn, which wait 50 ms at most
 * (`npm run bench -- codex`, "worst wait of another reader meanwhile").
 */
const turnMs = 8;

export function createTurn() {
  let ends = performance.now() + turnMs;
  return {
    isOver: () => performance.now() >= ends,
    async pass(): Promise<void> {
      await nextTurn();
      ends = performance.now() + turnMs;
    },
  };
}

/** Gathers a long text as bytes and hashes it on the way, so that no step takes long. */
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
      // A short answer goes into its envelope without being copied.
      const content = blocks.length === 1 ? only.toString() : await join(blocks, bytes);
      return { content, etag: `"${digest.digest("base64url")}"` };
    },
  };
}

async function join(blocks: readonly Buffer[], bytes: number): Promise<Buffer> {
  // Not of the pool: it would be kept in whole for the sake of a part.
  const whole = Buffer.allocUnsafeSlow(bytes);
  const turn = createTurn();
  let at = 0;
  for (const block of blocks) {
    at += block.copy(whole, at);
    if (turn.isOver()) await turn.pass();
  }
  return whole;
}
