import { createHash } from "node:crypto";
import { chmodSync, lstatSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { makeFolder } from "./folders.ts";

/** Socket paths longer than this are cut off by the kernel. */
const maxSocketPath = 100;
/** Started by root, Postgres runs as another account and must pass; each store's folder is 0700. */
const passable = 0o711;
const longestSocketName = ".s.PGSQL.5432.lock";

/**
 * A short folder for the sockets of one data folder, the same at every start (BOOT-01).
 * Only its owner may enter: the stores ask for no password on their sockets.
 */
export function socketDirFor(dataDir: string): string {
  const hash = createHash("sha256").update(resolve(dataDir)).digest("hex").slice(0, 12);
  const wanted = join(tmpdir(), `emberline-${hash}`);
  const isShort = join(wanted, longestSocketName).length < maxSocketPath;
  const dir = isShort ? wanted : join("/tmp", `emberline-${hash}`);
  makePrivate(dir);
  assertPrivate(dir);
  chmodSync(dir, process.getuid?.() === 0 ? passable : 0o700);
  return dir;
}

function makePrivate(dir: string): void {
  try {
    makeFolder(dir, 0o700);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`no folder for sockets: ${reason}; set TMPDIR to one that can be written`, {
      cause: error,
    });
  }
}

/** Somebody else could have made the folder first and wait for our passwords-free sockets. */
function assertPrivate(dir: string): void {
  const found = lstatSync(dir);
  const self = process.getuid?.() ?? 0;
  if (!found.isDirectory() || (self !== 0 && found.uid !== self))
    throw new Error(
      `${dir} belongs to somebody else; remove it or set TMPDIR to a folder of your own`,
    );
}
