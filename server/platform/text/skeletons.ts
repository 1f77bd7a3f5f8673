import { readFileSync } from "node:fs";
import { asset } from "../assets.ts";
import { foldName, nameKey } from "./account-names.ts";

/**
 * The form in which names are the same that look the same: the skeleton of UTS 39, without regard to case,
 * width and spaces. `foldName` is another: "Ian" and "lan" look the same, "ian" and "Ian" mean the same.
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

/** Lines of a prototype, a tab, and the signs that look like it. */
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

/** How a user name or a guest's name is stored; each is taken with all that look the same. */
export const userNameFields = (name: string) => ({
  name,
  nameKey: nameKey(name),
  nameSkeleton: skeletonOf(name),
});
