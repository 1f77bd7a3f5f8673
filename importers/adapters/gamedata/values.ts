import { snakeCase } from "../../../server/platform/text/snake-case.ts";
import { isFields, textOf, type Fields } from "../fields.ts";
import { kindOf, typeOfName } from "./kinds.ts";
import { idOfTag, type Names } from "./names.ts";

/** What the values of one asset tell besides themselves. */
export interface ConvertedFields {
  /** Property and id of everything that is referred to. */
  links: { rel: string; target: string }[];
  /** Tags, but those that name the asset. */
  tags: string[];
}

export interface ValueContext {
  names: Names;
  /** Texts of this namespace are known by their key alone. */
  mainNamespace: string;
  /** Gets the text that an asset itself has for a key. */
  addSource: (key: string, text: string) => void;
}

const isNothing = (value: unknown) =>
  value === null || value === undefined || value === "" || value === "None";

/** Upstream properties as `data` has them (shapes.ts); what they refer to is added to `told`. */
export function convertFields(
  properties: Fields,
  rename: Readonly<Record<string, string>>,
  context: ValueContext,
  told: ConvertedFields,
): Record<string, unknown> {
  const data: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(properties)) {
    const snake = (Object.hasOwn(rename, key) ? rename[key] : undefined) ?? snakeCase(key);
    // Two keys that differ in case alone both stay.
    const name = snake === "" || Object.hasOwn(data, snake) ? key : snake;
    const converted = convert(value, name, context, told);
    if (converted === undefined) continue;
    Object.defineProperty(data, name, {
      value: converted,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return data;
}

/** Undefined where upstream says nothing. */
function convert(
  value: unknown,
  name: string,
  context: ValueContext,
  told: ConvertedFields,
): unknown {
  if (isNothing(value)) return undefined;
  if (Array.isArray(value))
    return value.map((one) => convert(one, name, context, told)).filter((one) => one !== undefined);
  if (typeof value === "string") return readPlain(value, name, context, told);
  if (!isFields(value)) return value;
  for (const [member, read] of forms)
    if (Object.hasOwn(value, member)) return read(value, name, context, told) ?? undefined;
  return convertFields(value, {}, context, told);
}

/** `Id_Item_Torch`, `DesignDataItem:Id_Item_Torch`: upstream writes primary asset ids as plain text as well. */
const plainReference = /^(?:(\w+):)?(id_[a-z0-9]+_\w+)$/i;
/** Properties that hold nothing but references, whatever the name of their target. */
const referring = /_ids?$/;
/** `Id.Item.Torch` */
const idTag = /^Id(?:\.\w*[a-z0-9]\w*){2,}$/i;
/** `DCItemDataAsset'/Game/Data/Generated/V2/Item/Item/Id_Item_Torch.Id_Item_Torch'` */
const quoted = /^\w+'.+'$/;

/** A text that names an asset is a reference as any other; all others stay as they are. */
function readPlain(
  value: string,
  name: string,
  { names }: ValueContext,
  told: ConvertedFields,
): string {
  const [, wrapper = "", bare] = plainReference.exec(value) ?? [];
  const known = referring.test(name) ? referredBy(value, names) : null;
  const id = bare === undefined ? known : names.resolve(bare, typeOfHint(wrapper));
  if (id === null) return value;
  told.links.push({ rel: name, target: id });
  return id;
}

/** What a text stands for where nothing but a reference can be: a tag, the path of an asset, or its bare name. */
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
  told: ConvertedFields,
) => string | null;

/** Objects that stand for one value, by the member that tells them from others. */
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
  told: ConvertedFields,
): string | null {
  const tag = something(value["TagName"]);
  if (tag !== null && referring.test(name) && idTag.test(tag))
    return readPlain(tag, name, context, told);
  if (tag !== null && !tag.startsWith("Id.")) told.tags.push(tag);
  return tag;
}

function readText(value: Fields, _name: string, context: ValueContext): string | null {
  const key = something(value["Key"]);
  if (key === null) return null;
  const { Namespace: named } = value;
  // The namespace without a name is one of its own.
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
  return (value, name, { names }, told) => {
    const target = targetOf(value);
    if (target === null) return null;
    const id = names.resolve(target.name, target.type);
    told.links.push({ rel: name, target: id });
    return id;
  };
}

/** `/Game/Data/Generated/V2/Item/Item/Id_Item_Torch.Id_Item_Torch` */
export function pathTarget(path: unknown): Target | null {
  const text = something(path);
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
  const [, type = "", object = ""] = /^(?:(\w*)')?([^']+)'?$/.exec(something(name) ?? "") ?? [];
  if (object === "") return null;
  return { name: object.slice(object.lastIndexOf(".") + 1), type: typeOfHint(type) };
}

function primaryTarget(value: Fields): Target | null {
  const name = something(value["PrimaryAssetName"]);
  const type = value["PrimaryAssetType"];
  const hint = textOf(isFields(type) ? type["Name"] : type) ?? "";
  return name === null ? null : { name, type: typeOfHint(hint) };
}

const typeOfHint = (hint: string) => (hint === "" ? null : typeOfName(hint));

const something = (value: unknown) => (isNothing(value) ? null : textOf(value));
