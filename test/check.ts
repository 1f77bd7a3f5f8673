import { spawn } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { filesToFormat } from "./support/changed-files.ts";

/**
 * `npm run check [-- --changed]`: the checks required before a commit. Prints failures only. With `--changed`, which the
 * commit hook uses, format and lint look at the files that differ from the last commit; types and imports are checked as
 * a whole.
 */
const isChangedOnly = process.argv.includes("--changed");
const toFormat = filesToFormat(isChangedOnly);
// Without named folders the linter walks node_modules when there is no git checkout.
const toLint = isChangedOnly
  ? toFormat.filter((file) => /\.(ts|mjs)$/.test(file))
  : toFormat.filter((file) => !file.includes("."));
const isWebChanged = !isChangedOnly || toFormat.some((file) => file.startsWith("server/web/"));

/** Cache of the last check. */
const cache = join("node_modules", ".cache");

/** By its own path: the oldest TypeScript of the client's tests has a program of the same name. */
const compiler = join("node_modules", "typescript", "bin", "tsc");

/** Every checker infers the types again that many files share, so four of them, its default, are slower on two cores. */
const checkers = String(Math.min(4, Math.max(1, Math.floor(availableParallelism() / 2))));

type Check = readonly [name: string, command: string, args: readonly string[]];

const all: readonly (Check | false)[] = [
  toFormat.length > 0 && [
    "format",
    tool("prettier"),
    [
      "--check",
      "--cache",
      "--cache-strategy",
      "content",
      "--log-level",
      "warn",
      "--ignore-unknown",
      ...toFormat,
    ],
  ],
  toLint.length > 0 && ["lint", tool("oxlint"), ["--type-aware", "--format=unix", ...toLint]],
  [
    "types",
    compiler,
    [
      "--noEmit",
      ...["--checkers", checkers],
      "--incremental",
      "--tsBuildInfoFile",
      join(cache, "types.tsbuildinfo"),
      "--project",
      ".",
    ],
  ],
  // Browser code is compiled without Node's types.
  isWebChanged && ["browser types", compiler, ["--noEmit", "--project", "server/web"]],
  [
    "sources",
    process.execPath,
    [
      ...["--import", "tsx", "--test", "--test-reporter=dot"],
      ...["architecture", "log-lines", "server/web/client/published"].map(
        (name) => `test/${name}.test.ts`,
      ),
    ],
  ],
];
const checks = all.filter((check) => check !== false);

const started = performance.now();
const failed = (await Promise.all(checks.map(run))).filter((name) => name !== null);
const seconds = ((performance.now() - started) / 1000).toFixed(1);
const verdict = failed.length > 0 ? `failed: ${failed.join(", ")}` : "all good";
process.stdout.write(`check ${verdict} (${seconds} s)\n`);
process.exitCode = failed.length > 0 ? 1 : 0;

function tool(name: string): string {
  return join("node_modules", ".bin", name);
}

/** The name of a failed check, after printing its output; null if it passed. */
async function run([name, command, args]: Check): Promise<string | null> {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] });
  const [output, problems, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  if (code === 0) return null;
  process.stdout.write(`── ${name} ──\n${output}${problems}\n`);
  return name;
}
