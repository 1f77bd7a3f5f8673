import { readFileSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { asset } from "../assets.ts";

/** A place in a module, as a stack names it: `file:///…/chunk.js:12:34`. */
const place = /(file:\/\/\/[^\s()]+\.js):(\d+):(\d+)/g;
const isBuilt = import.meta.filename.endsWith(".js");

/**
 * Makes the function that names files and lines of the sources in a stack, for the bundles of a folder. A map is read
 * when an error first needs it: `--enable-source-maps` would have each process read and keep all maps at its start,
 * 0.1 s and 10 MB of it.
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

/** Null for a bundle without one. */
function readMap(file: string): SourceMap | null {
  try {
    const text = readFileSync(fileURLToPath(`${file}.map`), "utf8");
    return new SourceMap(JSON.parse(text) as SourceMapPayload);
  } catch {
    return null;
  }
}

/** The stack with files and lines of the sources; what runs from the sources has them already. */
export const sourceStack: (stack: string) => string = isBuilt
  ? createSourceStack(pathToFileURL(asset("./")))
  : (stack) => stack;
