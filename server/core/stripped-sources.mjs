// Node takes the types out of every file at every start, with a compiler that has to be compiled itself first.
import { hash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { registerHooks, stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * From here on TypeScript files are stripped once per content; `folder` keeps the results. Where one lies beside
 * another is plain from its name, which Node would look up on the disk in five steps: a sixth of loading the service.
 */
export function keepStrippedSources(folder) {
  try {
    mkdirSync(folder, { recursive: true });
  } catch {
    return;
  }
  registerHooks({
    resolve(specifier, context, next) {
      if (!isBeside(specifier, context.parentURL)) return next(specifier, context);
      const { href } = new URL(specifier, context.parentURL);
      return { url: href, format: "module", shortCircuit: true };
    },
    load(url, context, next) {
      if (!isOurs(url)) return next(url, context);
      const source = readFileSync(fileURLToPath(url), "utf8");
      return { format: "module", source: stripped(folder, source), shortCircuit: true };
    },
  });
}

const isOurs = (url) => url.endsWith(".ts") && !url.includes("/node_modules/");

function isBeside(specifier, from) {
  return specifier.startsWith(".") && isOurs(specifier) && from !== undefined && isOurs(from);
}

function stripped(folder, source) {
  const file = join(folder, `${hash("sha256", source)}-${process.versions.node}.js`);
  try {
    return readFileSync(file, "utf8");
  } catch {
    const result = stripTypeScriptTypes(source);
    keep(file, result);
    return result;
  }
}

/** Whole or not at all: others read it meanwhile. */
function keep(file, text) {
  const draft = `${file}.${process.pid}`;
  try {
    writeFileSync(draft, text);
    renameSync(draft, file);
  } catch {
    // A folder that may not be written costs time, nothing else.
  }
}
