// `node server/build.mjs` bundles the programs and the browser code into `.build/` and writes the types that browser code
// imports; with `--if-changed` only if the sources differ from those of the last build. Plain JavaScript, because it runs
// before anything is built.
import "./node-version.mjs";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleScripts } from "./web/bundle.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
/** Each build has its own folder, so that a running service keeps its files during the next build. */
const builds = join(root, ".build");
const current = join(builds, "current");
/** The newest builds; a running service may still load chunks of an older one. */
const keptBuilds = 3;

const folders = ["server", "workers", "actors", "importers", "db"];
const rootFiles = ["package.json", "package-lock.json"];
/** Entries outside `server/entries/`: name in the build -> source. */
const otherEntries = { import: "importers/cli.ts" };
/** Sources that are also read at run time through `asset()`, as every file of the folders that is no source. */
const otherAssets = ["package.json"];
/** Types of the OpenAPI document: not in git, but among the sources, where the browser code and `tsc` look for them. */
const generated = join(root, "server/web/generated");

/**
 * Packages of many small modules. Bundling them reduces the processor time to load a process from 0.79 s to 0.44 s;
 * the next dozen packages together would save 0.05 s. All other packages stay external.
 */
const bundled = [
  "@mikro-orm/core",
  "@mikro-orm/migrations",
  "@mikro-orm/postgresql",
  "@mikro-orm/sql",
  "bullmq",
  "cockatiel",
  "kysely",
  "typebox",
];
/** Dependencies of the bundled packages that contain native code, or that must be loaded only once. */
const neverBundled = ["msgpackr"];

/** Node keeps every source map in memory. The maps of packages name only the file, which saves 10 MB per process. */
const shortPackageMaps = {
  name: "short-package-maps",
  setup({ onLoad }) {
    onLoad({ filter: /node_modules.*\.[cm]?js$/ }, ({ path }) => {
      const map = JSON.stringify({ version: 3, sources: [basename(path)], mappings: "AAAA" });
      const url = `data:application/json;base64,${Buffer.from(map).toString("base64")}`;
      const contents = `${fs.readFileSync(path, "utf8")}\n//# sourceMappingURL=${url}`;
      return { contents, loader: "default" };
    });
  },
};

const digest = digestOf(listSources());
const isAsked = !process.argv.includes("--if-changed");
if (isAsked || builtDigest() !== digest || !fs.existsSync(generated)) await build();
recordCommit();

/** Digest of names and contents; modification times change when a tree is copied. */
function digestOf(files) {
  const sum = createHash("sha256");
  for (const file of files) {
    const bytes = fs.readFileSync(join(root, file));
    sum.update(`${file}\0${bytes.length}\0`).update(bytes);
  }
  return sum.digest("hex").slice(0, 16);
}

function listSources() {
  const inFolders = folders.flatMap((folder) =>
    fs
      .readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.parentPath !== generated)
      .map((entry) => join(entry.parentPath, entry.name).slice(root.length)),
  );
  return [...rootFiles, ...inFolders].sort();
}

function builtDigest() {
  try {
    return fs.readlinkSync(current);
  } catch {
    return null;
  }
}

/**
 * The commit of the checkout, read by `server/platform/version.ts`; beside the build, since a commit may leave the sources
 * as they are. A tree without a history, as in an image, is built with `--commit=<hash>`, or it stays unknown.
 */
function recordCommit() {
  const option = "--commit=";
  const given = process.argv.find((word) => word.startsWith(option));
  const commit = given?.slice(option.length) ?? checkedOutCommit();
  const file = join(builds, digest, "commit");
  try {
    if (commit === "") fs.rmSync(file, { force: true });
    else if (!fs.existsSync(file) || fs.readFileSync(file, "utf8") !== commit)
      fs.writeFileSync(file, commit);
  } catch {
    // A user that only starts the service cannot write there: the build has its commit already.
  }
}

/** Empty outside a checkout; `-dirty` marks changes that are not committed. */
function checkedOutCommit() {
  if (!fs.existsSync(join(root, ".git"))) return "";
  const args = ["--no-optional-locks", "describe", "--always", "--dirty", "--abbrev=40"];
  try {
    const options = { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] };
    return execFileSync("git", [...args, "--exclude=*"], options).trim();
  } catch {
    return "";
  }
}

/** Builds into a draft folder and renames it, because other processes may start or build at the same time. */
async function build() {
  const esbuild = await import("esbuild").catch(() =>
    refuse("the packages are not installed: run `npm ci` first"),
  );
  const made = join(builds, digest);
  const draft = `${made}.${process.pid}`;
  try {
    fs.mkdirSync(draft, { recursive: true });
  } catch {
    refuse(
      "the sources have changed since the build in .build, and this user cannot write there: run `npm run build` as a user that can",
    );
  }
  try {
    await bundle(esbuild, draft);
    copyAssets(draft);
    execFileSync(process.execPath, [join(draft, "types.js"), generated]);
    for (const { name, contents } of bundleScripts(esbuild, root)) {
      const path = join(draft, "server/web", name);
      fs.mkdirSync(dirname(path), { recursive: true });
      fs.writeFileSync(path, contents);
    }
    if (isAsked) fs.rmSync(made, { recursive: true, force: true });
    // A build of the same sources by another process, or an earlier one, may be in use.
    if (!fs.existsSync(made)) fs.renameSync(draft, made);
    fs.symlinkSync(digest, `${draft}.link`);
    fs.renameSync(`${draft}.link`, current);
  } catch (error) {
    fs.rmSync(draft, { recursive: true, force: true });
    refuse(`the build failed: ${error.message}`);
  }
  fs.rmSync(draft, { recursive: true, force: true });
  removeOldBuilds();
}

async function bundle(esbuild, outdir) {
  const { dependencies, optionalDependencies } = JSON.parse(
    fs.readFileSync(join(root, "package.json"), "utf8"),
  );
  const installed = Object.keys({ ...dependencies, ...optionalDependencies });
  const entries = fs
    .readdirSync(join(root, "server/entries"))
    .map((file) => [file.replace(/\.ts$/, ""), `server/entries/${file}`]);
  await esbuild.build({
    absWorkingDir: root,
    entryPoints: { ...Object.fromEntries(entries), ...otherEntries },
    outdir,
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    mainFields: ["module", "main"],
    target: "node22.18",
    sourcemap: true,
    sourcesContent: false,
    plugins: [shortPackageMaps],
    external: [...installed.filter((name) => !bundled.includes(name)), ...neverBundled],
    // Read by server/platform/version.ts.
    define: { BUILD_DIGEST: JSON.stringify(digest) },
    // The CommonJS modules among the bundled packages call `require`.
    banner: {
      js: 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);',
    },
    logLevel: "silent",
  });
}

function copyAssets(target) {
  const isSource = (file) => /\.(ts|mts|mjs)$/.test(file) || rootFiles.includes(file);
  for (const file of [...listSources().filter((file) => !isSource(file)), ...otherAssets])
    fs.cpSync(join(root, file), join(target, file));
}

function removeOldBuilds() {
  const age = (name) => fs.statSync(join(builds, name)).mtimeMs;
  const old = fs
    .readdirSync(builds)
    .filter((name) => name !== "current")
    .sort((a, b) => age(b) - age(a))
    .slice(keptBuilds);
  for (const name of old) fs.rmSync(join(builds, name), { recursive: true, force: true });
}

function refuse(reason) {
  process.stderr.write(`${reason}\n`);
  process.exit(1);
}
