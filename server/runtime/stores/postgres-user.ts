import {
  cpSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createHash } from "node:crypto";
import { dirname, join, resolve } from "node:path";
import { makeOwnFolder, removeOwnFolder, type Owner } from "./own-folder.ts";

/**
 * Postgres refuses to run as root. It never runs as `nobody`, because other programs under that account
 * could read its data and use its sockets.
 */
const accountName = "postgres";
const rootCache = "/var/lib/emberline";
const searchBit = 0o001;

/**
 * The account Postgres runs as: null means the current user. As root without such an account, throws a
 * one-line error.
 */
export function postgresUser(accounts = "/etc/passwd"): Owner | null {
  if (process.getuid?.() !== 0) return null;
  const account = readFileSync(accounts, "utf8")
    .split("\n")
    .map((line) => line.split(":"))
    .find((fields) => fields[0] === accountName);
  if (account) return { uid: Number(account[2]), gid: Number(account[3]) };
  throw new Error(
    "Postgres does not run as root and there is no user postgres; make one (useradd --system postgres), start as another user, or set DATABASE_URL",
  );
}

/** Whether another account can enter the folder: each parent must permit it. */
function isReachable(folder: string): boolean {
  for (let dir = dirname(folder); ; dir = dirname(dir)) {
    if (existsSync(dir) && (statSync(dir).mode & searchBit) === 0) return false;
    if (dir === dirname(dir)) return true;
  }
}

/**
 * The data folder itself, or a public place named after it if `user` cannot reach it. A note in the
 * original place records that; if the user removes that folder, the data in the other place is void too.
 */
export function reachableDataDir(dataDir: string, user: Owner | null): string {
  const wanted = resolve(dataDir);
  if (user === null || isReachable(wanted)) return wanted;
  const hash = createHash("sha256").update(wanted).digest("hex").slice(0, 12);
  const place = join(publicFolder(), hash);
  const note = `${wanted}-is-elsewhere`;
  if (!existsSync(note)) {
    removeOwnFolder(place, user);
    // Never writes through a link placed by another user.
    writeFileSync(note, `${place}\n`, { flag: "wx" });
  }
  return place;
}

/** The folder of the programs, or a copy of it if `user` cannot reach it. */
export function reachablePrograms(nativeDir: string, version: string, user: Owner | null): string {
  if (user === null || isReachable(join(nativeDir, "bin"))) return nativeDir;
  const copy = join(publicFolder(), `postgres-${version}`);
  if (existsSync(copy)) return copy;
  const draft = `${copy}.${process.pid}`;
  cpSync(nativeDir, draft, { recursive: true, verbatimSymlinks: true });
  if (existsSync(copy)) rmSync(draft, { recursive: true });
  else renameSync(draft, copy);
  return copy;
}

function publicFolder(): string {
  makeOwnFolder(rootCache, { mode: 0o755 });
  return rootCache;
}
