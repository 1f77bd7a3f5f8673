import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  rmSync,
  type Stats,
} from "node:fs";
import { dirname, join } from "node:path";
import { makeFolder } from "./folders.ts";

export interface Owner {
  uid: number;
  gid: number;
}

export interface OwnFolder {
  mode: number;
  /** Whose the folder becomes; ours when absent. */
  owner?: Owner | null;
  /** It must not exist yet. */
  isNew?: boolean;
}

/** A folder as it is, whatever its name leads to a moment later. */
const asFolder = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** A file as it is; a pipe in its place must not hold us up. */
const asFile = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export const ownUid = (): number => process.getuid?.() ?? 0;

/**
 * Makes a folder, or takes the one that is there if it is ours or already its owner's. On a shared host another user
 * may have made it first, or a link in its place: root would give away whatever that leads to.
 */
export function makeOwnFolder(dir: string, { mode, owner = null, isNew = false }: OwnFolder): void {
  makeFolder(dirname(dir));
  try {
    mkdirSync(dir, { mode: 0o700 });
  } catch (error) {
    if (isNew || (error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  withFolder(dir, owner, (folder) => {
    fchmodSync(folder, mode);
    if (owner) fchownSync(folder, owner.uid, owner.gid);
  });
}

/** Removes a folder of ours or of `owner`; nothing when there is none. */
export function removeOwnFolder(dir: string, owner: Owner | null): void {
  const found = lstatSync(dir, { throwIfNoEntry: false });
  if (found === undefined) return;
  requireOwner(dir, found, owner);
  rmSync(dir, { recursive: true, force: true });
}

/** Gives a folder of ours away with everything in it, but not what its links lead to, nor what has a second name. */
export function giveFolder(dir: string, owner: Owner): void {
  withFolder(dir, owner, (folder) => {
    if (fstatSync(folder).uid === owner.uid) return;
    giveInside(folder, dir, owner);
    // The folder itself last: an attempt that broke off is made again.
    fchownSync(folder, owner.uid, owner.gid);
  });
}

function giveInside(folder: number, name: string, owner: Owner): void {
  // By way of the open folder: nobody can put a link in the place of one of its parents.
  const path = `/proc/self/fd/${folder}`;
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (!entry.isDirectory() && !entry.isFile()) continue;
    const shown = join(name, entry.name);
    const handle = openSync(join(path, entry.name), entry.isDirectory() ? asFolder : asFile);
    try {
      const found = fstatSync(handle);
      requireOwner(shown, found, owner);
      if (found.isFile() && found.nlink > 1)
        throw new Error(`${shown} has a second name elsewhere`);
      if (found.isDirectory()) giveInside(handle, shown, owner);
      fchownSync(handle, owner.uid, owner.gid);
    } finally {
      closeSync(handle);
    }
  }
}

function withFolder(dir: string, owner: Owner | null, work: (folder: number) => void): void {
  const place = placeOf(dir);
  // Asked of the name first, since what is another's cannot always be opened.
  requireOwner(dir, lstatSync(place), owner);
  const folder = openSync(place, asFolder);
  try {
    requireOwner(dir, fstatSync(folder), owner);
    work(folder);
  } finally {
    closeSync(folder);
  }
}

/** Where a link of our own leads, to a larger disk; the links of others are not followed. */
function placeOf(dir: string): string {
  const found = lstatSync(dir);
  return found.isSymbolicLink() && found.uid === ownUid() ? realpathSync(dir) : dir;
}

/** Throws one line unless a file or folder, no link, is ours or of `owner`. */
function requireOwner(name: string, found: Stats, owner: Owner | null): void {
  if (!found.isDirectory() && !found.isFile()) throw new Error(`${name} is a link or no folder`);
  const owners = [ownUid(), ...(owner ? [owner.uid] : [])];
  if (!owners.includes(found.uid))
    throw new Error(
      `${name} belongs to another user (${found.uid}); if it is yours, run chown -R ${ownUid()} on it`,
    );
}
