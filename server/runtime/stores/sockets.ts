import { createHash } from "node:crypto";
import { lstatSync, rmdirSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { makeOwnFolder, ownUid, removeOwnFolder } from "./own-folder.ts";

/** The kernel truncates longer socket paths. */
const maxSocketPath = 100;
/** Started by root, Postgres runs as another account and must enter; each store's folder is 0700. */
const passable = 0o711;
const longestSocketName = ".s.PGSQL.5432.lock";

/**
 * A short folder for the sockets of one data folder, the same at every start (BOOT-01). Only its owner may
 * enter it, because the stores require no password on their sockets. Every user of the machine can guess
 * its name, so a folder of another user is refused, also by root.
 */
export function socketDirFor(dataDir: string): string {
  const dir = socketDirOf(dataDir);
  const found = lstatSync(dir, { throwIfNoEntry: false });
  if (found && (found.uid !== ownUid() || !found.isDirectory())) throw foreign(dir);
  try {
    makeOwnFolder(dir, { mode: ownUid() === 0 ? passable : 0o700 });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`no folder for sockets: ${reason}; set TMPDIR to one that can be written`, {
      cause: error,
    });
  }
  return dir;
}

/**
 * The same folder, for a command that connects to a running service. It must belong to this user or to the
 * owner of the data: root may connect to the service of another user.
 */
export function runningSocketDir(dataDir: string): string {
  const dir = socketDirOf(dataDir);
  const owners = [ownUid(), statSync(dataDir, { throwIfNoEntry: false })?.uid];
  const found = lstatSync(dir, { throwIfNoEntry: false });
  if (found && (!found.isDirectory() || !owners.includes(found.uid))) throw foreign(dir);
  return dir;
}

/**
 * Folder of the sockets between the workers of one service; only its owner may enter it. Null where it
 * cannot be created: the workers then communicate over Redis.
 */
export function linkDirFor(dataDir: string): string | null {
  try {
    const dir = linkDirOf(socketDirFor(dataDir));
    makeOwnFolder(dir, { mode: 0o700 });
    return dir;
  } catch {
    return null;
  }
}

/** Removes the workers' sockets, and the folder for sockets if nothing else is in it. */
export function removeLinkDir(dataDir: string): void {
  const dir = socketDirOf(dataDir);
  try {
    removeOwnFolder(linkDirOf(dir), null);
    rmdirSync(dir);
  } catch {
    // It belongs to another user, or the stores have their sockets there.
  }
}

const linkDirOf = (socketDir: string) => join(socketDir, "w");

function socketDirOf(dataDir: string): string {
  const hash = createHash("sha256").update(resolve(dataDir)).digest("hex").slice(0, 12);
  const wanted = join(tmpdir(), `emberline-${hash}`);
  const isShort = join(wanted, longestSocketName).length < maxSocketPath;
  return isShort ? wanted : join("/tmp", `emberline-${hash}`);
}

const foreign = (dir: string) =>
  new Error(`${dir} belongs to somebody else; remove it or set TMPDIR to a folder of your own`);
