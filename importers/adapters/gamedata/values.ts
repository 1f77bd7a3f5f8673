import { snakeCase } from "../../../server/platform/text/snake-case.ts";
import { snakeNames } from "../../envelope/kept-keys.ts";
import { isFields, textOf, type Fields } from "../fields.ts";
import { kindOf, typeOfName } from "./kinds.ts";
import { idOfTag, type Names } from "./names.ts";

/** By-products of converting the values of an asset. */
export interface ConvertedFields {
  /** Property and target of each reference. */
  links: { rel: string; target: string }[];
  /** Tags, except those that name an asset. */
  tags: string[];
}

export interface ValueContext {
  names: Names;
  /** Texts of this namespace have a key without prefix. */
  mainNamespace: string;
  /** Receives the source text of an asset for a key. */
  addSource: (key: string, text: string) => void;
}

const isEmpty = (value: unknown) =>
  value === null || value === undefined || value === "" || value === "None";

/** Converts upstream properties to `data` (shapes.ts); links and tags are added to `found`. */
export function convertFields(
  properties: Fields,
  rename: Readonly<Record<string, string>>,
  context: ValueContext,
  found: ConvertedFields,
): Record<string, unknown> {
  const formOf = (key: string) =>
    (Object.hasOwn(rename, key) ? rename[key] : undefined) ?? snakeCase(key);
  const entries = Object.entries(properties).filter(([, value]) => !isEmpty(value));
  const names = snakeNames(
    entries.map(([key]) => key),
    formOf,
  );
  return Object.fromEntries(
    entries.flatMap(([key, value], at) => {
      const name = names[at] ?? key;
      const converted = convert(value, name, context, found);
      return converted === undefined ? [] : [[name, converted]];
    }),
  );
}

/** Undefined for an empty value. */
function convert(
  value: unknown,
  name: string,
  context: ValueContext,
  found: ConvertedFields,
): unknown {
  if (isEmpty(value)) return undefined;
  if (Array.isArray(value))
    return value
      .map((one) => convert(one, name, context, found))
      .filter((one) => one !== undefined);
  if (typeof value === "string") return readPlain(value, name, context, found);
  if (!isFields(value)) return value;
  for (const [member, read] of forms)
    if (Object.hasOwn(value, member)) return read(value, name, context, found) ?? undefined;
  return convertFields(value, {}, context, found);
}

/** `Id_Item_Torch`, `DesignDataItem:Id_Item_Torch`: upstream writes primary asset ids as plain text as well. */
const plainReference = /^(?:(\w+):)?(id_[a-z0-9]+_\w+)$/i;
/** Properties that hold references only. */
const referenceProperty = /_ids?$/;
/** `Id.Item.Torch` */
const idTag = /^Id(?:\.\w*[a-z0-9]\w*){2,}$/i;
/** `DCItemDataAsset'/Game/Data/Generated/V2/Item/Item/Id_Item_Torch.Id_Item_Torch'` */
const quoted = /^\w+'.+'$/;

/** A text that names an asset is a reference; other texts stay unchanged. */
function readPlain(
  value: string,
  name: string,
  { names }: ValueContext,
  found: ConvertedFields,
): string {
  const [, wrapper = "", bare] = plainReference.exec(value) ?? [];
  const known = referenceProperty.test(name) ? referredBy(value, names) : null;
  const id = bare === undefined ? known : names.resolve(bare, typeOfHint(wrapper));
  if (id === null) return value;
  found.links.push({ rel: name, target: id });
  return id;
}

/** The target of a text in a reference property: a tag, an asset path, or a bare name. */
function referredBy(text: string, names: Names): string | null {
  if (idTag.test(text)) return idOfTag(text);
  const target = text.startsWith("/")
    ? pathTarget(text)
    : quoted.test(text)
      ? objectTarget(text)
      : null;
  if (target !== null) return names.resolve(target.name, target.type);
  return names.find(text.slice(text.lastIndexOf(":") + 1));
}

type Form = (
  value: Fields,
  name: string,
  context: ValueContext,
  found: ConvertedFields,
) => string | null;

/** Objects that represent one value, by their distinguishing member. */
const forms: readonly [member: string, read: Form][] = [
  ["TagName", readTag],
  ["AssetPathName", reference((value) => pathTarget(value["AssetPathName"]))],
  ["PrimaryAssetName", reference(primaryTarget)],
  ["ObjectName", reference((value) => objectTarget(value["ObjectName"]))],
  ["Namespace", readText],
  ["SourceString", readText],
];

function readTag(
  value: Fields,
  name: string,
  context: ValueContext,
  found: ConvertedFields,
): string | null {
  const tag = nonEmptyText(value["TagName"]);
  if (tag !== null && referenceProperty.test(name) && idTag.test(tag))
    return readPlain(tag, name, context, found);
  if (tag !== null && !tag.startsWith("Id.")) found.tags.push(tag);
  return tag;
}

function readText(value: Fields, _name: string, context: ValueContext): string | null {
  const key = nonEmptyText(value["Key"]);
  if (key === null) return null;
  const { Namespace: named } = value;
  // The namespace "" is a namespace of its own.
  const namespace = typeof named === "string" ? named : context.mainNamespace;
  const whole = textKey(namespace, key, context.mainNamespace);
  const source = textOf(value["SourceString"]);
  if (source !== null) context.addSource(whole, source);
  return whole;
}

/** Key of a text in `locales`. */
export const textKey = (namespace: string, key: string, mainNamespace: string) =>
  namespace === mainNamespace ? key : `${namespace}/${key}`;

interface Target {
  name: string;
  type: string | null;
}

function reference(targetOf: (value: Fields) => Target | null): Form {
  return (value, name, { names }, found) => {
    const target = targetOf(value);
    if (target === null) return null;
    const id = names.resolve(target.name, target.type);
    found.links.push({ rel: name, target: id });
    return id;
  };
}

/** `/Game/Data/Generated/V2/Item/Item/Id_Item_Torch.Id_Item_Torch` */
export function pathTarget(path: unknown): Target | null {
  const text = nonEmptyText(path);
  if (text === null) return null;
  const file = text.slice(text.lastIndexOf("/") + 1);
  const [, system, kind] = /\/V2\/(\w+)\/(?:\w+\/)*?(\w+)\/[^/]+$/.exec(text) ?? [];
  return {
    name: file.slice(file.lastIndexOf(".") + 1),
    type: kind === undefined ? null : kindOf(`${system}/${kind}`).type,
  };
}

/** `DCItemDataAsset'Id_Item_Torch'` */
export function objectTarget(name: unknown): Target | null {
  const [, type = "", object = ""] = /^(?:(\w*)')?([^']+)'?$/.exec(nonEmptyText(name) ?? "") ?? [];
  if (object === "") return null;
  return { name: object.slice(object.lastIndexOf(".") + 1), type: typeOfHint(type) };
}

function primaryTarget(value: Fields): Target | null {
  const name = nonEmptyText(value["PrimaryAssetName"]);
  const type = value["PrimaryAssetType"];
  const hint = textOf(isFields(type) ? type["Name"] : type) ?? "";
  return name === null ? null : { name, type: typeOfHint(hint) };
}

const typeOfHint = (hint: string) => (hint === "" ? null : typeOfName(hint));

const nonEmptyText = (value: unknown) => (isEmpty(value) ? null : textOf(value));
