import type { Book, PictureOf, Said, SampleAsset } from "./book.ts";
import { firstWorld } from "./world.ts";

/** The same book, to be changed apart from the first. */
export const copyOf = (book: Book): Book => ({
  assets: new Map(book.assets),
  texts: new Map(book.texts),
  pictures: new Map(book.pictures),
});

/** Changes members of an asset; undefined takes one away. */
export function edit(
  book: Book,
  name: string,
  members: SampleAsset["properties"] | ((before: SampleAsset["properties"]) => object),
): void {
  const asset = assetOf(book, name);
  const changed = typeof members === "function" ? members(asset.properties) : members;
  const kept = Object.entries({ ...asset.properties, ...changed }).filter(
    ([, value]) => value !== undefined,
  );
  book.assets.set(name, { ...asset, properties: Object.fromEntries(kept) });
}

/** Multiplies a number of assets, as a balance change does. */
export function scale(book: Book, names: readonly string[], member: string, by: number): void {
  for (const name of names)
    edit(book, name, (before) => ({ [member]: Math.round(Number(before[member] ?? 0) * by) }));
}

export function remove(book: Book, ...names: string[]): void {
  for (const name of names) {
    assetOf(book, name);
    book.assets.delete(name);
  }
}

/** Brings back what a patch removed, as it was in the first. */
export function restore(book: Book, ...names: string[]): void {
  const first = firstWorld();
  for (const name of names) book.assets.set(name, assetOf(first, name));
}

/** Writes the name of an asset in another way. */
export function respell(book: Book, name: string, other: string): void {
  const asset = assetOf(book, name);
  book.assets.delete(name);
  book.assets.set(other, { ...asset, name: other });
}

/** More languages of a text, or other words. */
export function reword(book: Book, key: string, said: Said): void {
  if (!book.texts.has(key)) throw new Error(`the sample has no text ${key}`);
  book.texts.set(key, { ...book.texts.get(key), ...said });
}

export function redraw(book: Book, path: string, look: Partial<PictureOf>): void {
  const before = book.pictures.get(path);
  if (!before) throw new Error(`the sample has no picture ${path}`);
  book.pictures.set(path, { ...before, ...look });
}

/** Names of assets that begin so. */
export const allOf = (book: Book, start: string) =>
  [...book.assets.keys()].filter((name) => name.startsWith(start));

function assetOf(book: Book, name: string): SampleAsset {
  const asset = book.assets.get(name);
  if (!asset) throw new Error(`the sample has no asset ${name}`);
  return asset;
}
