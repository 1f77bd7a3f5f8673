import type { ImportEnvelope, SourceEntity } from "../../envelope/contract.ts";
import { defineAdapter, type ImportTarget } from "../adapter.ts";
import { textOf, without } from "../fields.ts";
import { readAssets, type GameAsset } from "./assets.ts";
import { findExports, type Export } from "./exports.ts";
import { kindOf } from "./kinds.ts";
import { readLocales } from "./locales.ts";
import { createNames, type Names } from "./names.ts";
import { artSystem, createPictures, type Pictures } from "./pictures.ts";
import { addRelations, type Draft } from "./relations.ts";
import { diskTree, type FileTree } from "./tree.ts";
import { convertFields, type ConvertedFields, type ValueContext } from "./values.ts";

/** The game of the typed projection, from the files of its exporter (shapes.ts describes the result). */
export const gamedata = defineAdapter({
  game: "gamedata",
  read: (folder, target) => readExports(diskTree(folder), target),
});

/** The exports of a tree as envelopes of a game, in import order. */
export async function* readExports(
  tree: FileTree,
  target: ImportTarget,
): AsyncGenerator<ImportEnvelope> {
  const names = createNames(await target.knownIds());
  for (const one of await findExports(tree, target.game)) yield await readExport(one, names);
}

async function readExport(
  { name, header, mainNamespace, tree }: Export,
  names: Names,
): Promise<ImportEnvelope> {
  const assets = await readAssets(tree);
  const locales = await readLocales(tree, mainNamespace);
  const { en: english = {} } = locales;
  const content = assets.filter((asset) => !asset.folder.startsWith(artSystem));
  names.add(content);
  const pictures = createPictures(await tree.paths(), assets);
  const context: ValueContext = {
    names,
    mainNamespace,
    // The source string of an asset fills a gap in the English tables.
    addSource: (key, text) => (english[key] ??= text),
  };
  const entities = content.map((asset) => entityOf(asset, context, pictures));
  addRelations(entities);
  return {
    name,
    header,
    assets: pictures.used(),
    locales,
    hasSnakeKeys: true,
    entityCount: entities.length,
    entities: () => entities,
    readAsset: (path) => tree.read(path),
  };
}

/** Properties that become members of the entity, not of `data`. */
const excluded = new Set(["ArtData"]);

function entityOf(
  asset: GameAsset,
  context: ValueContext,
  pictures: Pictures,
): SourceEntity & Draft {
  const { type, rename = {}, set = {} } = kindOf(asset.folder);
  const found: ConvertedFields = { links: [], tags: [] };
  const data = convertFields(without(asset.properties, excluded), rename, context, found);
  const links = new Map(found.links.map((link) => [`${link.rel} ${link.target}`, link]));
  return {
    id: context.names.idOf(asset),
    upstream_key: asset.name,
    type,
    name_key: textOf(data["name"]) ?? textOf(data["title_text"]),
    tags: found.tags,
    data: { ...set, ...data },
    links: [...links.values()],
    ...pictures.of(asset),
  };
}
