import { execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { readArguments } from "./support/arguments.ts";
import { addCounts, countQueries, noQueries, textShare } from "./support/query-shares.ts";
import { retiredIdentifiers } from "./support/retired-names.ts";
import { walks } from "./support/walks.ts";

/**
 * `node --import tsx test/figures.ts [--beside <checkout>]`: countable facts about the readability of the
 * project, here and in another checkout. Measured facts come from `npm test` and `npm run bench -- service
 * idle`.
 */
const form = "node --import tsx test/figures.ts [--beside <checkout>]";
const { values } = readArguments(form, { options: { beside: { type: "string" } } });

const folders = "{server,workers,actors,importers,db,bench,test}";
const read = (root: string, file: string) => readFileSync(join(root, file), "utf8");

/** Source files that people read, with their text. */
function sourcesOf(root: string): { file: string; text: string }[] {
  return globSync(`${folders}/**/*.{ts,mjs}`, { cwd: root })
    .filter((file) => !/^test\/(upgrade|support\/retired-names)/.test(file))
    .map((file) => ({ file, text: read(root, file) }));
}

/** Uses of retired names outside the files in which they are lawful. */
function retiredWords(root: string): number {
  const retired = new Map(retiredIdentifiers.map(({ name, allowedIn = [] }) => [name, allowedIn]));
  const uses = sourcesOf(root).flatMap(({ file, text }) =>
    (text.match(/[\w$]+/g) ?? []).filter((word) => retired.get(word)?.includes(file) === false),
  );
  return uses.length;
}

/** Gives its own class a prototype; see the table in `architecture.test.ts`. */
const ownClass = "server/http/pipeline/request-deps.ts";

/** Files that change a class of a library or replace one of its members. */
function patchingFiles(root: string): number {
  const patch = /^(?!\s*(?:\/\/|\/?\*)).*(?:\.prototype\b|\bReflect\.(?:set|defineProperty)\()/m;
  return sourcesOf(root).filter(
    ({ file, text }) => !file.startsWith("test/") && file !== ownClass && patch.test(text),
  ).length;
}

function textQueries(root: string): string {
  const all = [...countQueries(root).values()].reduce(addCounts, noQueries);
  const { text, builder, entities } = all;
  return `${textShare(all).toFixed(0)} % (${text} of ${text + builder + entities})`;
}

interface LockedPackage {
  dev?: boolean;
}

/** MiB of the installed packages: all, and without development packages. */
function installSize(root: string): string {
  const lock = JSON.parse(read(root, "package-lock.json")) as {
    packages: Record<string, LockedPackage>;
  };
  const installed = Object.entries(lock.packages).filter(
    ([path]) => path !== "" && !/node_modules\/.*\/node_modules\//.test(path),
  );
  const kib = (path: string) =>
    Number(execFileSync("du", ["-sk", path], { encoding: "utf8" }).split("\t")[0]);
  let [all, serving] = [0, 0];
  for (const [path, { dev }] of installed) {
    const folder = join(root, path);
    if (!existsSync(folder)) continue;
    const size = kib(folder);
    all += size;
    if (dev !== true) serving += size;
  }
  return `${(all / 1024).toFixed(0)} MiB, ${(serving / 1024).toFixed(0)} with --omit=dev`;
}

const rows: [what: string, of: (root: string) => string | number][] = [
  ["lines of README.md", (root) => read(root, "README.md").split("\n").length - 1],
  ["words of README.md", (root) => read(root, "README.md").split(/\s+/).length],
  ["uses of retired identifiers", retiredWords],
  ["files that patch a library", patchingFiles],
  ["queries that are texts of SQL", textQueries],
  ["installed packages", installSize],
];
const roots = [resolve("."), ...(values.beside === undefined ? [] : [resolve(values.beside)])];
for (const [what, of] of rows)
  process.stdout.write(`${what.padEnd(32)} ${roots.map(of).join("   before: ")}\n`);
for (const { request, stops } of walks)
  process.stdout.write(`${`files on the walk of ${request}`.padEnd(32)} ${stops.length}\n`);
