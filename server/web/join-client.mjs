// Plain JavaScript, because `server/build.mjs` runs it before anything is built.
import { readFileSync } from "node:fs";
import { join } from "node:path";

const entry = "./emberline.ts";

/** An import or a passed-on export of another module, as Prettier writes it. */
const reference =
  /^(?:import|export)(?: type)? (?:\{([^}]*)\}|\*) from "(\.{1,2}\/[\w/-]+\.ts)";\n/gm;
const exported =
  /^export (?=(?:async |abstract )*(?:const|class|function\*?|interface|type) (\w+))/gm;

/**
 * The modules of the client as one file: each follows those it imports, its imports are removed, and so are the exports
 * that the entry does not pass on. Every name occurs once in the client, which `tsc` checks when it reads the result.
 */
export function joinClient(root) {
  const read = (file) => readFileSync(join(root, "server/web/client", file), "utf8");
  const start = read(entry);
  const isPublished = publishedBy(start);
  const seen = new Set();
  const parts = [bannerOf(start)];
  const add = (file) => {
    if (seen.has(file)) return;
    seen.add(file);
    const text = read(file);
    for (const [, , imported] of text.matchAll(reference)) add(imported);
    const own = text.replace(bannerOf(text), "").replace(reference, "").trim();
    parts.push(own.replace(exported, (word, name) => (isPublished(file, name) ? word : "")));
  };
  add(entry);
  return `${parts.join("\n\n")}\n`;
}

/** Whether users of the client can import this name: all of the entry, and what it passes on by name or as `*`. */
function publishedBy(text) {
  const names = new Map([[entry, null]]);
  for (const [line, list, file] of text.matchAll(reference))
    if (line.startsWith("export"))
      names.set(file, list?.split(",").map((name) => name.trim()) ?? null);
  return (file, name) => names.has(file) && (names.get(file)?.includes(name) ?? true);
}

/** The comment at the start of the client. */
export const bannerOf = (source) => /^\/\*!.*?\*\//s.exec(source)?.[0] ?? "";
