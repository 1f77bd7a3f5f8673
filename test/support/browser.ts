import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { chromium, type Browser } from "playwright-core";
import { shared } from "./shared.ts";

/** The headless shell draws no windows, which saves half of the work. */
const packages = ["chromium-headless-shell", "chromium"];
const names = [...packages, "chromium-browser", "google-chrome"];
const installLimitMs = 180_000;

/** This machine under a name that browsers do not treat as secure without https, unlike 127.0.0.1. */
export const plainHost = "plain.example";

/** Only the pages under test are fetched. */
const quietArgs = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  `--host-resolver-rules=MAP ${plainHost} 127.0.0.1`,
];

/**
 * A real browser, or null if this machine has none and cannot install one, which is an error in CI. It is
 * shared: each user closes the windows it opened.
 */
export const sharedBrowser = shared(startBrowser, async (browser) => browser?.close());

async function startBrowser(): Promise<Browser | null> {
  const executablePath = findBrowser() ?? (await installBrowser());
  if (executablePath !== null) return chromium.launch({ executablePath, args: quietArgs });
  const problem = "no chromium on this machine and none could be installed (apt-get as root)";
  if (process.env["CI"]) throw new Error(problem);
  process.stderr.write(`\n*** THE BROWSER TEST DOES NOT RUN: ${problem} ***\n\n`);
  return null;
}

function findBrowser(): string | null {
  const folders = ["/usr/bin", ...(process.env["PATH"] ?? "").split(delimiter)];
  const candidates = folders.flatMap((folder) => names.map((name) => join(folder, name)));
  return candidates.find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function installBrowser(): Promise<string | null> {
  if (process.getuid?.() !== 0) return null;
  const run = promisify(execFile);
  const options = {
    timeout: installLimitMs,
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
  };
  await run("apt-get", ["update", "-qq"], options).catch(report);
  for (const name of packages) {
    const args = ["install", "-y", "-qq", "--no-install-recommends", name];
    const isThere = await run("apt-get", args, options).then(() => true, report);
    if (isThere) break;
  }
  return findBrowser();
}

function report(error: unknown): false {
  process.stderr.write(`apt-get: ${String(error)}\n`);
  return false;
}
