// Half of a start goes by while Node finds and links the thousand small modules of a few packages.
import { hash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { registerHooks } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** What is imported of them; all of it is linked in one go, so that a module shared by two is there once. */
export const linked = [
  "@mikro-orm/core",
  "@mikro-orm/migrations",
  "@mikro-orm/postgresql",
  "@mikro-orm/sql",
  "bullmq",
  "cockatiel",
  "kysely",
  "typebox",
  "typebox/compile",
  "typebox/format",
  "typebox/system",
  "typebox/value",
];

/**
 * From here on an import of one of these packages finds it linked into few files. `folder`, which has to lie in
 * `installed`, the folder of packages, keeps them until other versions are installed. Where nothing can be kept, an
 * import finds the package itself.
 */
export async function linkPackages(installed, folder) {
  const made = readFileSync(join(installed, ".package-lock.json"));
  const own = readFileSync(new URL(import.meta.url));
  const place = join(folder, hash("sha256", Buffer.concat([made, own])).slice(0, 32));
  if (!existsSync(place) && !(await link(installed, place))) return;
  const urls = new Map(linked.map((name) => [name, pathToFileURL(fileOf(place, name)).href]));
  registerHooks({
    resolve(specifier, context, next) {
      const url = urls.get(specifier);
      return url ? { url, format: "module", shortCircuit: true } : next(specifier, context);
    },
  });
}

const entryOf = (name) => name.replaceAll("/", "-").replace("@", "");
const fileOf = (place, name) => join(place, `${entryOf(name)}.mjs`);

/** Whole or not at all: others look for it meanwhile. */
async function link(installed, place) {
  const draft = `${place}.${process.pid}`;
  try {
    // Fails before anything is loaded where nothing can be written.
    mkdirSync(draft, { recursive: true });
    const { build } = await import("esbuild");
    await build({
      absWorkingDir: installed,
      entryPoints: linked.map((name) => ({ in: name, out: entryOf(name) })),
      outdir: draft,
      outExtension: { ".js": ".mjs" },
      bundle: true,
      splitting: true,
      format: "esm",
      platform: "node",
      mainFields: ["module", "main"],
      external: ["ioredis", "msgpackr", "pg"],
      banner: {
        js: 'import { createRequire as from } from "node:module"; const require = from(import.meta.url);',
      },
      logLevel: "silent",
    });
    renameSync(draft, place);
    return true;
  } catch {
    if (existsSync(draft)) rmSync(draft, { recursive: true });
    return existsSync(place);
  }
}
