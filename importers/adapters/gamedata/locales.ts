import { ImportRefused } from "../../envelope/contract.ts";
import { isFields, type Fields } from "../fields.ts";
import type { FileTree } from "./tree.ts";
import { readJson } from "./tree.ts";
import { textKey } from "./values.ts";

const tablePath = /^Content\/Localization\/\w+\/([A-Za-z0-9_-]+)\/\w+\.json$/;

/**
 * `{locale: {key: text}}` of the tables `{namespace: {key: text}}` of an export; empty texts say nothing. The
 * objects are without prototype, because upstream names their members.
 */
export async function readLocales(
  tree: FileTree,
  mainNamespace: string,
): Promise<Record<string, Record<string, string>>> {
  const locales = bare<Record<string, string>>();
  locales["en"] = bare();
  for (const path of await tree.paths()) {
    const locale = tablePath.exec(path)?.[1];
    if (locale === undefined) continue;
    const file = `${tree.prefix ?? ""}${path}`;
    const tables = await readJson(tree, path);
    const texts = (locales[locale] ??= bare());
    for (const [namespace, table] of Object.entries(fieldsOf(tables, file, "")))
      for (const [key, value] of Object.entries(fieldsOf(table, file, namespace))) {
        if (typeof value !== "string") throw refusal(file, `${namespace}.${key}`, "is no text");
        if (value !== "") texts[textKey(namespace, key, mainNamespace)] = value;
      }
  }
  return locales;
}

/** Texts that are not where they belong must not be read as none, which would remove those that are there. */
function fieldsOf(value: unknown, file: string, place: string): Fields {
  if (isFields(value)) return value;
  throw refusal(file, place, "is not an object");
}

const refusal = (entity: string, place: string, problem: string) =>
  new ImportRefused([{ entity, place, problem }]);

const bare = <T>() => Object.create(null) as Record<string, T>;
