import { isFields, textOf } from "../fields.ts";
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
    const tables = await readJson(tree, path);
    const texts = (locales[locale] ??= bare());
    for (const [namespace, table] of Object.entries(isFields(tables) ? tables : {}))
      for (const [key, value] of Object.entries(isFields(table) ? table : {})) {
        const text = textOf(value);
        if (text !== null) texts[textKey(namespace, key, mainNamespace)] = text;
      }
  }
  return locales;
}

const bare = <T>() => Object.create(null) as Record<string, T>;
