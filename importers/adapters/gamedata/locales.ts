import { ImportRefused } from "../../envelope/contract.ts";
import { isFields, type Fields } from "../fields.ts";
import type { FileTree } from "./tree.ts";
import { readJson } from "./tree.ts";
import { textKey } from "./values.ts";

const tablePath = /^Content\/Localization\/\w+\/([A-Za-z0-9_-]+)\/\w+\.json$/;

/**
 * `{locale: {key: text}}` from the tables `{namespace: {key: text}}` of an export, without empty texts. The objects
 * have no prototype, because upstream chooses their keys.
 */
export async function readLocales(
  tree: FileTree,
  mainNamespace: string,
): Promise<Record<string, Record<string, string>>> {
  const locales = createRecord<Record<string, string>>();
  locales["en"] = createRecord();
  for (const path of await tree.paths()) {
    const locale = tablePath.exec(path)?.[1];
    if (locale === undefined) continue;
    const file = `${tree.prefix ?? ""}${path}`;
    const tables = await readJson(tree, path);
    const texts = (locales[locale] ??= createRecord());
    for (const [namespace, table] of Object.entries(fieldsOf(tables, file, "")))
      for (const [key, value] of Object.entries(fieldsOf(table, file, namespace))) {
        if (typeof value !== "string") throw refusal(file, `${namespace}.${key}`, "is no text");
        if (value !== "") texts[textKey(namespace, key, mainNamespace)] = value;
      }
  }
  return locales;
}

/** A malformed table is refused: reading it as empty would remove the present texts. */
function fieldsOf(value: unknown, file: string, place: string): Fields {
  if (isFields(value)) return value;
  throw refusal(file, place, "is not an object");
}

const refusal = (entity: string, place: string, problem: string) =>
  new ImportRefused([{ entity, place, problem }]);

const createRecord = <T>() => Object.create(null) as Record<string, T>;
