import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

/** Measured versions of the peers, which are not dependencies of the project. */
const versions = {
  "socket.io": "4.8.4",
  "@socket.io/redis-streams-adapter": "0.3.1",
  "@colyseus/core": "0.18.17",
  "@colyseus/sdk": "0.18.4",
  "@colyseus/ws-transport": "0.18.4",
  "@colyseus/schema": "5.0.34",
  // @colyseus/ws-transport imports it without declaring it.
  express: "5.1.0",
  // A load generator to compare the bots with.
  autocannon: "8.0.0",
} as const;

/** `$XDG_CACHE_HOME/emberline-bench`: packages installed once and reused by later runs. */
export const packagesFolder = (): string =>
  join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "emberline-bench");

/** Installs the peers' packages into the cache folder, unless these versions are installed. */
export async function installPeers(): Promise<void> {
  const folder = packagesFolder();
  const manifest = `${JSON.stringify({ private: true, dependencies: versions }, null, 2)}\n`;
  const file = join(folder, "package.json");
  const done = join(folder, "installed.json");
  if (contentOf(done) === manifest) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, manifest);
  const args = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", folder];
  const npm = spawn("npm", args, { stdio: ["ignore", "ignore", "pipe"] });
  const [problems, [code]] = await Promise.all([text(npm.stderr), once(npm, "close")]);
  if (code !== 0) throw new Error(`npm install in ${folder} failed:\n${problems}`);
  writeFileSync(done, manifest);
}

/** A package of the cache folder; the caller declares its types. */
export function peerPackage(name: keyof typeof versions): unknown {
  return createRequire(join(packagesFolder(), "package.json"))(name);
}

function contentOf(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}
