import { hash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, join } from "node:path";
import { asset } from "../../platform/assets.ts";

/** A file of a response; cached at first use, bounded by the list below. */
export interface Asset {
  type: string;
  bytes: Uint8Array;
  etag: string;
}

const web = asset("server/web");
const swagger = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));

/** Without the charset browsers read the scripts of the documentation page as Latin-1. */
const types: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".map": "application/json",
  ".svg": "image/svg+xml",
  ".ts": "text/plain; charset=utf-8",
};

/** Name -> path of every served file, so that no path of a request reaches the file system. */
const paths = new Map<string, string>([
  ...filesIn(web),
  ...filesIn(join(web, "reader")),
  ...["ts", "d.ts", "js", "js.map"].map((ending): [string, string] => [
    `client/emberline.${ending}`,
    join(web, `client/emberline.${ending}`),
  ]),
  ...["refresh.js", "review.js", "operator.css"].map((name): [string, string] => [
    `operator/${name}`,
    join(web, "operator", name),
  ]),
  ["swagger-ui.css", join(swagger, "swagger-ui.css")],
  ["swagger-ui-bundle.js", join(swagger, "swagger-ui-bundle.js")],
]);
const loaded = new Map<string, Asset>();
let bundling: Promise<ReadonlyMap<string, Uint8Array>> | null = null;

/** The file of this name, or null; names of client files begin with `client/`. */
export async function readAsset(name: string): Promise<Asset | null> {
  const known = loaded.get(name);
  if (known) return known;
  const bytes = (await (bundling ??= bundle())).get(name) ?? readListed(name);
  if (bytes === null) return null;
  const type = types[extname(name)] ?? "application/octet-stream";
  const kept = { type, bytes, etag: `"${hash("sha1", bytes, "base64url")}"` };
  loaded.set(name, kept);
  return kept;
}

function filesIn(folder: string): [name: string, path: string][] {
  const names = readdirSync(folder).filter((name) => /\.(css|html|js|map|svg)$/.test(name));
  return names.map((name) => [name, join(folder, name)]);
}

function readListed(name: string): Uint8Array | null {
  const path = paths.get(name);
  return path === undefined ? null : readFileSync(path);
}

/** Scripts by name where the service runs from its sources; a build has them as files. */
async function bundle(): Promise<ReadonlyMap<string, Uint8Array>> {
  if (!existsSync(join(web, "bundle.mjs"))) return new Map();
  const [{ bundleScripts }, esbuild] = await Promise.all([
    import("../../web/bundle.mjs"),
    import("esbuild"),
  ]);
  return new Map(bundleScripts(esbuild, asset("")).map(({ name, contents }) => [name, contents]));
}
