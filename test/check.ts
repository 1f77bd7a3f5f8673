import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";

/** `npm run check`: the checks required before a commit. Prints failures only. */
const folders = ["server", "workers", "actors", "importers", "db", "bench", "test"].filter(
  (folder) => existsSync(folder),
);
const rootFiles = ["package.json", "tsconfig.json", ".oxlintrc.json", ".prettierrc.json"];

/** Cache of the last check. */
const cache = join("node_modules", ".cache");

/** By its own path: the oldest TypeScript of the client's tests has a program of the same name. */
const compiler = join("node_modules", "typescript", "bin", "tsc");

const checks: readonly [name: string, command: string, args: readonly string[]][] = [
  [
    "format",
    tool("prettier"),
    [
      "--check",
      "--cache",
      "--cache-strategy",
      "content",
      "--log-level",
      "warn",
      ...folders,
      ...rootFiles,
    ],
  ],
  // Without named folders the linter walks node_modules when there is no git checkout.
  ["lint", tool("oxlint"), ["--type-aware", "--format=unix", ...folders]],
  [
    "types",
    compiler,
    [
      "--noEmit",
      "--incremental",
      "--tsBuildInfoFile",
      join(cache, "types.tsbuildinfo"),
      "--project",
      ".",
    ],
  ],
  // Browser code is compiled without Node's types.
  ["browser types", compiler, ["--noEmit", "--project", "server/web"]],
  [
    "sources",
    process.execPath,
    [
      ...["--import", "tsx", "--test", "--test-reporter=dot"],
      ...["architecture", "vocabulary", "log-lines", "server/web/client/types"].map(
        (name) => `test/${name}.test.ts`,
      ),
    ],
  ],
];

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
async function run([name, command, args]: (typeof checks)[number]): Promise<string | null> {
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
