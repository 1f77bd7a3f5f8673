import type { Dataset, PictureOf, LocalizedText, SampleAsset } from "./dataset.ts";
import { firstWorld } from "./world.ts";

/** A copy that can be changed without the first. */
export const copyOf = (dataset: Dataset): Dataset => ({
  assets: new Map(dataset.assets),
  texts: new Map(dataset.texts),
  pictures: new Map(dataset.pictures),
});

/** Changes members of an asset; undefined removes one. */
export function edit(
  dataset: Dataset,
  name: string,
  members: SampleAsset["properties"] | ((before: SampleAsset["properties"]) => object),
): void {
  const asset = assetOf(dataset, name);
  const changed = typeof members === "function" ? members(asset.properties) : members;
  const kept = Object.entries({ ...asset.properties, ...changed }).filter(
    ([, value]) => value !== undefined,
  );
  dataset.assets.set(name, { ...asset, properties: Object.fromEntries(kept) });
}

/** Multiplies a number of assets, as a balance change does. */
export function scale(
  dataset: Dataset,
  names: readonly string[],
  member: string,
  by: number,
): void {
  for (const name of names)
    edit(dataset, name, (before) => ({ [member]: Math.round(Number(before[member] ?? 0) * by) }));
}

export function remove(dataset: Dataset, ...names: string[]): void {
  for (const name of names) {
    assetOf(dataset, name);
    dataset.assets.delete(name);
  }
}

/** Restores removed assets in their form of the first patch. */
export function restore(dataset: Dataset, ...names: string[]): void {
  const first = firstWorld();
  for (const name of names) dataset.assets.set(name, assetOf(first, name));
}

/** Changes the spelling of an asset name. */
export function respell(dataset: Dataset, name: string, other: string): void {
  const asset = assetOf(dataset, name);
  dataset.assets.delete(name);
  dataset.assets.set(other, { ...asset, name: other });
}

/** Changes a text, or adds languages to it. */
export function reword(dataset: Dataset, key: string, localized: LocalizedText): void {
  if (!dataset.texts.has(key)) throw new Error(`the sample has no text ${key}`);
  dataset.texts.set(key, { ...dataset.texts.get(key), ...localized });
}

export function redraw(dataset: Dataset, path: string, change: Partial<PictureOf>): void {
  const before = dataset.pictures.get(path);
  if (!before) throw new Error(`the sample has no picture ${path}`);
  dataset.pictures.set(path, { ...before, ...change });
}

/** Names of assets with a prefix. */
export const allOf = (dataset: Dataset, start: string) =>
  [...dataset.assets.keys()].filter((name) => name.startsWith(start));

function assetOf(dataset: Dataset, name: string): SampleAsset {
  const asset = dataset.assets.get(name);
  if (!asset) throw new Error(`the sample has no asset ${name}`);
  return asset;
}
