// Plain JavaScript, because `server/build.mjs` runs it before anything is built.
import { relative } from "node:path";

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
  "operator/overview": "operator/overview.ts",
  "client/emberline": "client/emberline.ts",
};

/**
 * Bundles the browser code: one script per page, so that a page never mixes two versions during a deployment. Runs
 * synchronously, because esbuild's asynchronous calls leave a child process behind.
 */
export function bundleScripts(esbuild, root) {
  const { outputFiles } = esbuild.buildSync({
    absWorkingDir: root,
    entryPoints: Object.fromEntries(
      Object.entries(entries).map(([name, file]) => [name, `${folder}/${file}`]),
    ),
    outdir: folder,
    bundle: true,
    write: false,
    format: "esm",
    target: "es2023",
    charset: "utf8",
    legalComments: "inline",
    sourcemap: true,
    logLevel: "silent",
  });
  return outputFiles.map(({ path, contents }) => ({
    name: relative(`${root}/${folder}`, path),
    contents,
  }));
}
