import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { build } from "esbuild";

/**
 * Makes `previous/`, the lobbies and streams of the last release in one file that needs packages alone:
 *
 *     git worktree add /tmp/last <tag>
 *     node --import tsx test/upgrade/record-lobbies.ts /tmp/last
 *
 * Run it with the checkout of a release when that is made, so that the next one is tried beside it.
 */
const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("give the folder of the release's checkout");
const checkout = resolve(folder);
const target = join(import.meta.dirname, "previous");

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
const { metafile } = await build({
  stdin: { contents: readParts(), resolveDir: checkout, loader: "ts" },
  absWorkingDir: checkout,
  outfile: join(target, "parts.mjs"),
  metafile: true,
  bundle: true,
  minify: true,
  format: "esm",
  platform: "node",
  target: "node22",
  packages: "external",
  logLevel: "warning",
});
// Scripts are read from the folder of the module that names them, which is that of the bundle.
for (const from of new Set(Object.keys(metafile.inputs).map(dirname)))
  for (const script of globSync(join(checkout, from, "*.lua")))
    cpSync(script, join(target, basename(script)));

/** As the release has it, where it has it: its files may lie elsewhere than ours. */
function readParts(): string {
  const theirs = join(checkout, "test/upgrade/parts.ts");
  const file = existsSync(theirs) ? theirs : join(import.meta.dirname, "parts.ts");
  return readFileSync(file, "utf8").replaceAll('"../../', '"./');
}
