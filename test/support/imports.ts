import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

/** An import between two files of the project; paths are relative to the root of the checkout. */
export interface Import {
  from: string;
  to: string;
  /** `import type` or `export type`, which load nothing at run time. */
  isTypeOnly: boolean;
}

const statement = /^[ \t]*(?:import|export)\s+(type\s)?(?:[\w*\s{},$]+?\sfrom\s+)?"([^"]+)"/gm;
const dynamicImport = /\bimport\(\s*"([^"]+)"\s*\)/g;
const sources = "**/*.{ts,mts,mjs}";

/** Source files below the folders. */
export function sourceFiles(root: string, folders: readonly string[]): string[] {
  return folders
    .flatMap((folder) => globSync(join(folder, sources), { cwd: root }))
    .map(normalize)
    .sort();
}

/** Every relative import in the text of a file. */
export function importsIn(file: string, text: string): Import[] {
  const found = (isTypeOnly: boolean, specifier: string | undefined): Import[] =>
    specifier?.startsWith(".")
      ? [{ from: file, to: normalize(join(dirname(file), specifier)), isTypeOnly }]
      : [];
  return [
    ...[...text.matchAll(statement)].flatMap((m) => found(m[1] !== undefined, m[2])),
    ...[...text.matchAll(dynamicImport)].flatMap((m) => found(false, m[1])),
  ];
}

/** Modules of packages that a text imports, such as `bullmq` or `lru-cache/raw`. */
export function packageImportsIn(text: string): string[] {
  const found = [
    ...[...text.matchAll(statement)].map((m) => m[2]),
    ...[...text.matchAll(dynamicImport)].map((m) => m[1]),
  ];
  return found.flatMap((specifier = ".") => (/^(?:\.|node:)/.test(specifier) ? [] : [specifier]));
}

export function readImports(root: string, files: readonly string[]): Import[] {
  return files.flatMap((file) => importsIn(file, readFileSync(join(root, file), "utf8")));
}

/** Import cycles, each written `a -> b -> a`. */
export function findCycles(imports: readonly Import[]): string[] {
  const targets = new Map<string, string[]>();
  for (const { from, to, isTypeOnly } of imports)
    if (!isTypeOnly) targets.set(from, [...(targets.get(from) ?? []), to]);
  const finished = new Set<string>();
  const cycles: string[] = [];
  const visit = (file: string, trail: readonly string[]): void => {
    const start = trail.indexOf(file);
    if (start >= 0) cycles.push([...trail.slice(start), file].join(" -> "));
    if (start >= 0 || finished.has(file)) return;
    for (const target of targets.get(file) ?? []) visit(target, [...trail, file]);
    finished.add(file);
  };
  for (const file of targets.keys()) visit(file, []);
  return cycles;
}
