import { snakeCase } from "../../../server/platform/text/snake-case.ts";
import { kindOf, typeOfName } from "./kinds.ts";

/** The parts of an asset that determine its id. */
export interface NamedAsset {
  /** In the spelling of upstream: "Id_Item_Longsword_5001". */
  name: string;
  /** `<System>/<Kind>` */
  folder: string;
  /** "Id.Item.Longsword" */
  idTag: string | null;
}

/**
 * Ids of assets. The spelling of names varies, so the lookup ignores case, and the first patch with an asset fixes
 * its id for all later patches and imports.
 */
export interface Names {
  /** Adds the assets of an export. */
  add(assets: readonly NamedAsset[]): void;
  idOf(asset: NamedAsset): string;
  /** Id of an asset of the exports so far, by name only. */
  find(name: string): string | null;
  /** Id of the target of a reference, imported or not; `hint` is the type in the reference, if any. */
  resolve(name: string, hint: string | null): string;
}

/** `known`: ids of earlier imports by lower-case name. */
export function createNames(known: ReadonlyMap<string, string> = new Map()): Names {
  // By type and lower-case name; by name only for references without a type.
  const byType = new Map<string, string>();
  const byName = new Map<string, string>();
  const keyOf = ({ folder, name }: NamedAsset) => `${kindOf(folder).type} ${name.toLowerCase()}`;
  const knownId = (name: string, type: string | null) => {
    const id = known.get(name.toLowerCase());
    return type === null || id?.startsWith(`id.${type}.`) === true ? id : undefined;
  };
  const idOf = (asset: NamedAsset) =>
    byType.get(keyOf(asset)) ?? knownId(asset.name, kindOf(asset.folder).type) ?? makeId(asset);
  return {
    idOf,
    add(assets) {
      for (const asset of assets) {
        const id = idOf(asset);
        byType.set(keyOf(asset), id);
        if (!byName.has(asset.name.toLowerCase())) byName.set(asset.name.toLowerCase(), id);
      }
    },
    find: (name) => byName.get(name.toLowerCase()) ?? null,
    resolve(name, hint) {
      const bare = name.slice(name.lastIndexOf(":") + 1).toLowerCase();
      const added = (hint === null ? undefined : byType.get(`${hint} ${bare}`)) ?? byName.get(bare);
      return added ?? knownId(bare, hint) ?? guess(name.slice(name.lastIndexOf(":") + 1), hint);
    },
  };
}

/** The id of a tag: "Id.Item.FrostAmulet" -> "id.item.frost_amulet". */
export function idOfTag(tag: string): string {
  const [, kind = "", ...rest] = tag.split(".");
  return `id.${typeOfName(kind)}.${rest.map(snakeCase).join("_")}`;
}

function makeId({ name, folder, idTag }: NamedAsset): string {
  const { type } = kindOf(folder);
  const bare = bareName(name, folder.split("/").reverse());
  if (idTag === null) return `id.${type}.${slugOf(bare)}`;
  const [, , ...parts] = idTag.split(".");
  const rest = restAfter(bare, parts.join(""));
  if (rest === null || parts.length === 0) return `id.${type}.${slugOf(bare)}`;
  return `id.${type}.${[...parts, rest].map(snakeCase).filter(Boolean).join("_")}`;
}

const slugOf = (name: string) => snakeCase(name) || "unnamed";

/** The name without `Id_` and the name of its kind or system, in any case. */
function bareName(name: string, kinds: readonly string[]): string {
  const bare = name.replace(/^id_/i, "").replace(/^designdata/i, "");
  const kind = kinds.find((one) => bare.toLowerCase().startsWith(`${one.toLowerCase()}_`));
  return kind === undefined ? bare : bare.slice(kind.length + 1);
}

/** The rest of `name` after the letters and digits of `start`; null for another beginning. */
function restAfter(name: string, start: string): string | null {
  const wanted = start.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  let at = 0;
  for (const letter of wanted) {
    while (at < name.length && !/[a-z0-9]/i.test(name[at] ?? "")) at++;
    if (name[at]?.toLowerCase() !== letter) return null;
    at++;
  }
  return name.slice(at);
}

/** The type comes from the hint, else from the name (`Id_Item_Torch`). */
function guess(name: string, hint: string | null): string {
  const kind = /^id_(?:designdata)?([a-z]+)_/i.exec(name)?.[1] ?? null;
  const type = hint ?? (kind === null ? "asset" : typeOfName(kind));
  return `id.${type}.${slugOf(bareName(name, kind === null ? [] : [kind]))}`;
}
