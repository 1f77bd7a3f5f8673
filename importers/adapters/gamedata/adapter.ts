import type { ImportEnvelope, SourceEntity } from "../../envelope/contract.ts";
import { defineAdapter, type ImportTarget } from "../adapter.ts";
import { textOf, without } from "../fields.ts";
import { readAssets, type GameAsset } from "./assets.ts";
import { findExports, type Export } from "./exports.ts";
import { kindOf } from "./kinds.ts";
import { readLocales } from "./locales.ts";
import { createNames, type Names } from "./names.ts";
import { artSystem, createPictures, type Pictures } from "./pictures.ts";
import { relate, type Draft } from "./relations.ts";
import { diskTree, type FileTree } from "./tree.ts";
import { convertFields, type ConvertedFields, type ValueContext } from "./values.ts";

/** The game of the typed projection, from the files its exporter writes (shapes.ts says what becomes of them). */
export const gamedata = defineAdapter({
  game: "gamedata",
  read: (folder, target) => readExports(diskTree(folder), target),
});

/** The exports of a tree as envelopes of a game, in the order they have to be imported. */
export async function* readExports(tree: FileTree, target: ImportTarget): AsyncGenerator<ImportEnvelope> {
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
  names.learn(content);
  const pictures = createPictures(await tree.paths(), assets);
  const context: ValueContext = {
    names,
    mainNamespace,
    // What the tables do not have in English is as the assets say it.
    addSource: (key, text) => (english[key] ??= text),
  };
  const entities = content.map((asset) => entityOf(asset, context, pictures));
  relate(entities);
  return {
    name,
    header,
    assets: pictures.used(),
    locales,
    entityCount: entities.length,
    entities: () => entities,
    readAsset: (path) => tree.read(path),
  };
}

/** Told by the entity itself, not by its data. */
const apart = new Set(["ArtData"]);

function entityOf(
  asset: GameAsset,
  context: ValueContext,
  pictures: Pictures,
): SourceEntity & Draft {
  const { type, rename = {}, set = {} } = kindOf(asset.folder);
  const told: ConvertedFields = { links: [], tags: [] };
  const data = convertFields(without(asset.properties, apart), rename, context, told);
  const links = new Map(told.links.map((link) => [`${link.rel} ${link.target}`, link]));
  return {
    id: context.names.idOf(asset),
    upstream_key: asset.name,
    type,
    name_key: textOf(data["name"]) ?? textOf(data["title_text"]),
    tags: told.tags,
    data: { ...set, ...data },
    links: [...links.values()],
    ...pictures.of(asset),
  };
}
