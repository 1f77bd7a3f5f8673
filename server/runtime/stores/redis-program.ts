import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Logger } from "../../platform/log/logger.ts";

export interface RedisProgram {
  command: string;
  env: NodeJS.ProcessEnv;
}

const run = promisify(execFile);
const programs = ["redis-server", "valkey-server"];
const packages = [
  "redis-server",
  "redis-tools",
  "libjemalloc2",
  "liblzf1",
  "libatomic1",
  "liblua5.1-0",
  "lua-cjson",
  "lua-bitop",
];
const downloadLimitMs = 120_000;

let known: RedisProgram | null = null;

/**
 * A Redis or Valkey from PATH, else one unpacked from Debian packages without root; no npm package contains
 * one. It is stored in `cacheDir`, which all data folders and tests share. Throws an error that says what
 * to install.
 */
export async function findRedisProgram(cacheDir: string, log: Logger): Promise<RedisProgram> {
  known ??= await findProgram(cacheDir, log);
  return known;
}

async function findProgram(cacheDir: string, log: Logger): Promise<RedisProgram> {
  for (const command of programs) {
    const found = await run(command, ["--version"]).then(
      () => true,
      () => false,
    );
    if (found) return { command, env: { PATH: process.env["PATH"], LC_ALL: "C" } };
  }
  const cache = join(cacheDir, "redis");
  try {
    if (!existsSync(join(cache, "usr/bin/redis-server"))) await unpackPackages(cache, log);
    const program = unpackedProgram(cache);
    await run(program.command, ["--version"], { env: program.env });
    return program;
  } catch (error) {
    throw new Error(
      "no Redis found: install redis-server (Debian: apt-get install redis-server, macOS: brew install redis) or set REDIS_URL",
      { cause: error },
    );
  }
}

/** Debian names the library folder after the architecture; the program finds its libraries there. */
function unpackedProgram(cache: string): RedisProgram {
  const lib = join(cache, "usr/lib");
  const folders = readdirSync(lib, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const path = [lib, ...folders.map((entry) => join(lib, entry.name))].join(":");
  return {
    command: join(cache, "usr/bin/redis-server"),
    env: { PATH: process.env["PATH"], LC_ALL: "C", LD_LIBRARY_PATH: path },
  };
}

async function unpackPackages(cache: string, log: Logger): Promise<void> {
  log.info(
    { event: "redis_unpacking" },
    "no redis-server in PATH, unpacking one from the system's packages",
  );
  const draft = `${cache}.${process.pid}`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(join(draft, "debs"), { recursive: true });
  const options = { cwd: join(draft, "debs"), timeout: downloadLimitMs };
  await run("apt-get", ["download", ...packages], options).catch(async () => {
    const own = await ownPackageLists(draft, options);
    await run("apt-get", [...own, "download", ...packages], options);
  });
  for (const file of readdirSync(options.cwd)) await run("dpkg", ["-x", file, draft], options);
  for (const folder of ["debs", "apt"])
    rmSync(join(draft, folder), { recursive: true, force: true });
  try {
    renameSync(draft, cache);
  } catch {
    // Another process was faster; its copy is equivalent.
    rmSync(draft, { recursive: true, force: true });
  }
}

/** A fresh image has no package lists; without root they are stored in our own folder. */
async function ownPackageLists(
  draft: string,
  options: { cwd: string; timeout: number },
): Promise<string[]> {
  const state = join(draft, "apt");
  mkdirSync(join(state, "lists/partial"), { recursive: true });
  mkdirSync(join(state, "cache/archives/partial"), { recursive: true });
  const flags = ["-o", `Dir::State=${state}`, "-o", `Dir::Cache=${join(state, "cache")}`];
  await run("apt-get", [...flags, "update"], options);
  return flags;
}
