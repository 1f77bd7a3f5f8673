import { basename } from "node:path/posix";
import { unreadable } from "../../envelope/source-json.ts";
import { isFields, rowsOf, textOf, type Fields } from "../fields.ts";
import type { NamedAsset } from "./names.ts";
import { readJson, type FileTree } from "./tree.ts";

/** One asset file of an export. */
export interface GameAsset extends NamedAsset {
  path: string;
  /** Without properties at their default; empty if all are. */
  properties: Fields;
}

/** Nested kinds are flattened: `Quest/QuestContent/QuestContentKill` is `Quest/QuestContentKill`. */
const assetPath = /^Data\/Generated\/V2\/(\w+)\/(?:\w+\/)*?(\w+)\/([^/]+)\.json$/;

/** Every asset file of an export, by path. */
export async function readAssets(tree: FileTree): Promise<GameAsset[]> {
  const assets: GameAsset[] = [];
  for (const path of await tree.paths()) {
    const [, system, kind, file] = assetPath.exec(path) ?? [];
    if (system === undefined || kind === undefined || file === undefined) continue;
    const folder = `${system}/${kind}`;
    const object = mainObject(rowsOf(await readJson(tree, path)), file);
    if (object === undefined) throw unreadable(`${tree.prefix ?? ""}${path}`, "has no object");
    const { Properties: properties = {} } = object;
    if (!isFields(properties))
      throw unreadable(`${tree.prefix ?? ""}${path}`, "has Properties that are no object");
    const name = textOf(object["Name"]) ?? basename(file);
    assets.push({ path, folder, name, properties, idTag: tagOf(properties["IdTag"]) });
  }
  return assets;
}

/** The asset that the file is named after; the file may hold other objects. */
function mainObject(objects: readonly Fields[], file: string): Fields | undefined {
  const isNamed = ({ Name: name }: Fields) => textOf(name)?.toLowerCase() === file.toLowerCase();
  const isData = ({ Type: type }: Fields) => textOf(type)?.endsWith("DataAsset") === true;
  return objects.find(isNamed) ?? objects.find(isData) ?? objects[0];
}

function tagOf(value: unknown): string | null {
  const tag = textOf(isFields(value) ? value["TagName"] : value);
  return tag !== null && tag.startsWith("Id.") ? tag : null;
}
