// Plain JavaScript, because `server/build.mjs` runs it before anything is built.
import { relative } from "node:path";
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
 * client as one script and as one source.
 */
export function bundleScripts(esbuild, root) {
  const source = joinClient(root);
  return [
    ...bundle(esbuild, root, entries, { legalComments: "inline" }),
    ...bundle(esbuild, root, client, { legalComments: "none", banner: { js: bannerOf(source) } }),
    { name: "client/emberline.ts", contents: Buffer.from(source) },
  ];
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
