// `node server/build.mjs` bundles the programs of the product into `.build/`; with `--if-changed` only when the sources
// are not those of the last build. Plain JavaScript, because it runs before anything is built.
import "./node-version.mjs";
import { createHash } from "node:crypto";
import fs from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleScripts } from "./web/bundle.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
/** Each build has a folder of its own, so that a service which runs from it keeps it while another is made. */
const builds = join(root, ".build");
const current = join(builds, "current");
/** The newest, and those that a running service may still load parts of. */
const keptBuilds = 3;

const folders = ["server", "workers", "actors", "importers", "db"];
const rootFiles = ["package.json", "package-lock.json"];
/** Name in the build -> source, besides all of `server/entries/`. */
const otherEntries = { import: "importers/cli.ts" };
/** Read at run time, through `asset()`, besides all in the folders that is no source. */
const otherAssets = ["package.json", "server/web/client/emberline.d.ts"];

/**
 * Packages of many small modules, which Node would find and link one by one: bundled, each process loads in 0.44 s of
 * processor instead of 0.79 s. All others stay where npm puts them; the next dozen together would save 0.05 s.
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
/** What the bundled ones load themselves and must be there once, or is no JavaScript. */
const neverBundled = ["msgpackr"];

/** Node reads the maps of all it loads: of packages they say the file alone, which spares each process 10 MB. */
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
if (isAsked || builtDigest() !== digest) await build();

/** Of what the build is made from: names and contents, since times change when a tree is copied. */
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
      .filter((entry) => entry.isFile())
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

/** Whole or not at all: others may start, or build, meanwhile. */
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
      "the build in .build is not of these sources, and cannot be made here: run `npm run build` as who may write",
    );
  }
  try {
    await bundle(esbuild, draft);
    copyAssets(draft);
    for (const { name, contents } of bundleScripts(esbuild, root)) {
      const path = join(draft, "server/web", name);
      fs.mkdirSync(dirname(path), { recursive: true });
      fs.writeFileSync(path, contents);
    }
    if (isAsked) fs.rmSync(made, { recursive: true, force: true });
    // Who was faster, or an earlier build of the same sources, may be in use.
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
    // For what is not ESM among the bundled packages.
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
