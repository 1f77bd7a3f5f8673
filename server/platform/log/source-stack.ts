import { readFileSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { asset } from "../assets.ts";

/** A position in a module as stacks contain it: `file:///…/chunk.js:12:34`. */
const place = /(file:\/\/\/[^\s()]+\.js):(\d+):(\d+)/g;
const isBuilt = import.meta.filename.endsWith(".js");

/**
 * Creates a function that maps the positions in a stack to the sources, for the bundles of a folder. A
 * source map is read when an error first needs it. With `--enable-source-maps` each process would read and
 * keep all maps at its start, which takes 0.1 s and 10 MB.
 */
export function createSourceStack(folder: URL): (stack: string) => string {
  const maps = new Map<string, SourceMap | null>();
  const mapOf = (file: string): SourceMap | null => {
    const known = maps.get(file);
    if (known !== undefined) return known;
    const map = readMap(file);
    maps.set(file, map);
    return map;
  };
  return (stack) =>
    stack.replace(place, (text, file: string, line: string, column: string) => {
      const map = file.startsWith(folder.href) ? mapOf(file) : null;
      const entry = map?.findEntry(Number(line) - 1, Number(column) - 1);
      if (entry === undefined || !("originalSource" in entry)) return text;
      const source = new URL(entry.originalSource, file).href;
      return `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
    });
}

/** Null for a bundle without a source map. */
function readMap(file: string): SourceMap | null {
  try {
    const text = readFileSync(fileURLToPath(`${file}.map`), "utf8");
    return new SourceMap(JSON.parse(text) as SourceMapPayload);
  } catch {
    return null;
  }
}

/** Address of the folder with the sources; a build lies in `.build/<digest>` below it. */
export const sourceRoot: string = pathToFileURL(
  isBuilt ? join(asset("./"), "../../") : asset("./"),
).href;

/** The stack with positions in the sources; unchanged when running from the sources. */
export const sourceStack: (stack: string) => string = isBuilt
  ? createSourceStack(pathToFileURL(asset("./")))
  : (stack) => stack;
