import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { build } from "esbuild";

/**
 * Makes `previous/`, the lobbies and streams of the last release in one file that needs packages alone:
 *
 *     git worktree add /tmp/last <tag>
 *     npm run release:lobbies -- /tmp/last
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
// A release finds its scripts by their names, below the nearest folder that has a manifest.
writeFileSync(join(target, "package.json"), '{ "type": "module" }\n');
for (const from of new Set(Object.keys(metafile.inputs).map(dirname)))
  for (const script of globSync(join(from, "*.lua"), { cwd: checkout }))
    cpSync(join(checkout, script), join(target, script));

/** As the release has it, where it has it: its files may lie elsewhere than ours. */
function readParts(): string {
  const theirs = join(checkout, "test/upgrade/parts.ts");
  const file = existsSync(theirs) ? theirs : join(import.meta.dirname, "parts.ts");
  return readFileSync(file, "utf8").replaceAll('"../../', '"./');
}
