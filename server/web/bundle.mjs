// Plain JavaScript, because `server/build.mjs` runs it before anything is built.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { bannerOf, joinClient } from "./join-client.mjs";

const folder = "server/web";

/** Name below `/assets` or `/client` -> the file a page starts in. */
const entries = {
  home: "home.ts",
  docs: "docs.ts",
  play: "play/play.ts",
  inbox: "inbox.ts",
  "reset-password": "reset-password.ts",
  consent: "consent.ts",
  codex: "reader/codex.ts",
  data: "reader/data.ts",
  "operator/refresh": "operator/refresh.ts",
  "operator/review": "operator/review.ts",
};
/**
 * The oldest browsers of the pages: iOS 16 on an iPhone 8, Chrome 108, Firefox 115. The `lib` of `tsconfig.json` has
 * what all of them have, and esbuild lowers syntax that one of them does not have.
 */
export const browsers = ["safari16", "chrome108", "firefox115"];
/** The published client; its banner comes first, wherever the entry is in the bundle. */
const client = { "client/emberline": "client/emberline.ts" };

/**
 * Bundles the browser code: one script per page, so that a page never mixes two versions during a deployment, and the
 * client as one script, as one source, and as the types that TypeScript projects need besides the script.
 */
export function bundleScripts(esbuild, root) {
  const source = joinClient(root);
  return [
    ...bundle(esbuild, root, entries, { legalComments: "inline" }),
    ...bundle(esbuild, root, client, { legalComments: "none", banner: { js: bannerOf(source) } }),
    { name: "client/emberline.ts", contents: Buffer.from(source) },
    { name: "client/emberline.d.ts", contents: declarationsOf(source, root) },
  ];
}

function declarationsOf(source, root) {
  const folder = mkdtempSync(join(tmpdir(), "ember-types-"));
  const options = "--declaration --emitDeclarationOnly --target es2023 --lib es2024,dom --types";
  const file = join(folder, "emberline.ts");
  const args = [...options.split(" "), "", "--ignoreConfig", "--outDir", folder, file];
  try {
    writeFileSync(file, source);
    const compiler = join(root, "node_modules/typescript/bin/tsc");
    // It prints what is wrong to its standard output.
    execFileSync(process.execPath, [compiler, ...args], { stdio: ["ignore", 2, 2] });
    return readFileSync(join(folder, "emberline.d.ts"));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Synchronous, because esbuild's asynchronous calls leave a child process behind. */
function bundle(esbuild, root, files, options) {
  const { outputFiles } = esbuild.buildSync({
    ...options,
    absWorkingDir: root,
    entryPoints: Object.fromEntries(
      Object.entries(files).map(([name, file]) => [name, `${folder}/${file}`]),
    ),
    outdir: folder,
    bundle: true,
    write: false,
    format: "esm",
    target: browsers,
    charset: "utf8",
    sourcemap: true,
    logLevel: "silent",
  });
  return outputFiles.map(({ path, contents }) => ({
    name: relative(`${root}/${folder}`, path),
    contents,
  }));
}
