import { readFileSync } from "node:fs";
import { asset } from "../assets.ts";
import { foldName, nameKey } from "./account-names.ts";

/**
 * Confusable names have the same skeleton (UTS 39), which ignores case, width and spaces. `foldName` is different:
 * "Ian" and "lan" look the same, "ian" and "Ian" mean the same.
 */
export function skeletonOf(name: string): string {
  const { prototypes } = (table ??= readTable());
  const plain = foldSpaces(name.normalize("NFKC").replace(unseen, "")).normalize("NFD");
  const skeleton = Array.from(plain, (sign) => prototypes.get(sign) ?? sign).join("");
  return foldName(skeleton);
}

const unseen = /\p{Default_Ignorable_Code_Point}/gu;
const foldSpaces = (text: string) => text.replace(/\s+/g, " ").trim();

interface Table {
  prototypes: ReadonlyMap<string, string>;
}
let table: Table | undefined;

/** Lines of a prototype, a tab, and its confusable characters. */
function readTable(): Table {
  const text = readFileSync(asset("server/platform/text/confusables.txt"), "utf8");
  const prototypes = new Map<string, string>();
  for (const line of text.split("\n")) {
    const [prototype, signs] = line.split("\t");
    if (prototype === undefined || signs === undefined) continue;
    for (const sign of unescaped(signs)) prototypes.set(sign, unescaped(prototype));
  }
  return { prototypes };
}

const unescaped = (text: string) =>
  text.replace(/\\u\{([0-9a-f]+)\}/g, (_, hex: string) => String.fromCodePoint(parseInt(hex, 16)));

/** Skeletons of a user or guest name as stored; a name reserves all its confusables. */
export const userNameFields = (name: string) => ({
  name,
  nameKey: nameKey(name),
  nameSkeleton: skeletonOf(name),
});
