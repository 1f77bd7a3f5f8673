import { hash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as esbuild from "esbuild";
import { asset } from "../../../../server/platform/assets.ts";
import { bundleScripts } from "../../../../server/web/bundle.mjs";

/** Name -> hash of its declaration. */
export type Digest = Readonly<Record<string, string>>;

const file = join(import.meta.dirname, "declarations.json");

/** The files of the client that the service serves: name -> text. */
export function publishedFiles(): ReadonlyMap<string, string> {
  const files = bundleScripts(esbuild, asset(""));
  return new Map(files.map(({ name, contents }) => [name, new TextDecoder().decode(contents)]));
}

/** Digest of the declarations of `emberline.d.ts`; comments and the order of names do not count. */
export function digestOf(declarations: string): Digest {
  const texts = new Map<string, string>();
  for (const text of declarations.replace(/\/\*.*?\*\//gs, "").split(/^(?=\w)/m)) {
    const name = declared.exec(text)?.[1];
    if (name !== undefined) texts.set(name, (texts.get(name) ?? "") + text.replace(/\s+/g, " "));
  }
  const sorted = Array.from(texts).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([name, text]) => [name, hash("sha256", text).slice(0, 8)]));
}

const declared =
  /^(?:export )?(?:declare )?(?:abstract )?(?:class|const|function|interface|type) (\w+)/;

/** The digest in the repository. */
export const acceptedDigest = (): Digest => JSON.parse(readFileSync(file, "utf8")) as Digest;

/** Makes this digest that of the repository. */
export const acceptDigest = (digest: Digest): void =>
  writeFileSync(file, `${JSON.stringify(digest, null, 2)}\n`);

/** What differs between two digests, a line each. */
export function changesBetween(before: Digest, after: Digest): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return Array.from(names).flatMap((name) => {
    if (before[name] === after[name]) return [];
    if (before[name] === undefined) return [`added: ${name}`];
    return [after[name] === undefined ? `removed: ${name}` : `changed: ${name}`];
  });
}
