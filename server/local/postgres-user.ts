import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createHash } from "node:crypto";
import { dirname, join, resolve } from "node:path";

export interface SystemUser {
  uid: number;
  gid: number;
}

/** Postgres refuses to run as root; these accounts exist on ordinary systems, in this order. */
const candidates = ["postgres", "nobody"];
const rootCache = "/var/lib/emberline";
const searchBit = 0o001;

/** The account Postgres runs as: null means our own. Throws one line when root finds none. */
export function postgresUser(): SystemUser | null {
  if (process.getuid?.() !== 0) return null;
  const accounts = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"));
  for (const name of candidates) {
    const account = accounts.find((fields) => fields[0] === name);
    if (account) return { uid: Number(account[2]), gid: Number(account[3]) };
  }
  throw new Error(
    "Postgres does not run as root and there is no user postgres or nobody; set DATABASE_URL",
  );
}

/** Whether another account can walk into the folder: each parent must let it pass. */
function isReachable(folder: string): boolean {
  for (let dir = dirname(folder); ; dir = dirname(dir)) {
    if (existsSync(dir) && (statSync(dir).mode & searchBit) === 0) return false;
    if (dir === dirname(dir)) return true;
  }
}

/**
 * The data folder itself, or a public place named after it when `user` could not reach it. A note in
 * the wanted place says so: when the user removes that folder, the data elsewhere is void too.
 */
export function reachableDataDir(dataDir: string, user: SystemUser | null): string {
  const wanted = resolve(dataDir);
  if (user === null || isReachable(wanted)) return wanted;
  const hash = createHash("sha256").update(wanted).digest("hex").slice(0, 12);
  const place = join(publicFolder(), hash);
  const note = `${wanted}-is-elsewhere`;
  if (!existsSync(note)) {
    rmSync(place, { recursive: true, force: true });
    writeFileSync(note, `${place}\n`);
  }
  return place;
}

/** The folder of the programs, or a copy of it when `user` could not reach it. */
export function reachablePrograms(
  nativeDir: string,
  version: string,
  user: SystemUser | null,
): string {
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
  mkdirSync(rootCache, { recursive: true, mode: 0o755 });
  chmodSync(rootCache, 0o755);
  return rootCache;
}
