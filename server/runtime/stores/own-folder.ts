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
  /** Owner of the folder; this user by default. */
  owner?: Owner | null;
  /** It must not exist yet. */
  isNew?: boolean;
}

/** Opens a folder itself, so that a later change of its name has no effect. */
const asFolder = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Opens a file itself; a pipe in its place must not block. */
const asFile = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export const ownUid = (): number => process.getuid?.() ?? 0;

/**
 * Creates a folder, or uses an existing one that belongs to this user or already to `owner`. On a shared
 * host another user may have created it first, or placed a link there: root would then give away the target
 * of the link.
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

/** Removes a folder of this user or of `owner`, if it exists. */
export function removeOwnFolder(dir: string, owner: Owner | null): void {
  const found = lstatSync(dir, { throwIfNoEntry: false });
  if (found === undefined) return;
  requireOwner(dir, found, owner);
  rmSync(dir, { recursive: true, force: true });
}

/**
 * Changes the owner of a folder and its contents, except targets of links and files with several hard
 * links.
 */
export function giveFolder(dir: string, owner: Owner): void {
  withFolder(dir, owner, (folder) => {
    if (fstatSync(folder).uid === owner.uid) return;
    giveInside(folder, dir, owner);
    // The folder itself last, so that an interrupted attempt is repeated.
    fchownSync(folder, owner.uid, owner.gid);
  });
}

function giveInside(folder: number, name: string, owner: Owner): void {
  // Through the open folder, so that nobody can replace one of its parents by a link.
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
  // Checked by name first, since files of other users cannot always be opened.
  requireOwner(dir, lstatSync(place), owner);
  const folder = openSync(place, asFolder);
  try {
    requireOwner(dir, fstatSync(folder), owner);
    work(folder);
  } finally {
    closeSync(folder);
  }
}

/** Follows a link of this user, for example to a larger disk; links of others are not followed. */
function placeOf(dir: string): string {
  const found = lstatSync(dir);
  return found.isSymbolicLink() && found.uid === ownUid() ? realpathSync(dir) : dir;
}

/** Throws a one-line error unless a file or folder, not a link, belongs to this user or to `owner`. */
function requireOwner(name: string, found: Stats, owner: Owner | null): void {
  if (!found.isDirectory() && !found.isFile()) throw new Error(`${name} is a link or no folder`);
  const owners = [ownUid(), ...(owner ? [owner.uid] : [])];
  if (!owners.includes(found.uid))
    throw new Error(
      `${name} belongs to another user (${found.uid}); if it is yours, run chown -R ${ownUid()} on it`,
    );
}
