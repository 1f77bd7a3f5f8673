/** An asset in the form of the exporter. */
export interface SampleAsset {
  /** `<System>/<Kind>` */
  folder: string;
  name: string;
  properties: Readonly<Record<string, unknown>>;
}

/** A text in the languages of the sample; German and Chinese have gaps, as translations do. */
export interface LocalizedText {
  en?: string;
  de?: string;
  zh?: string;
}

/** Languages with their upstream codes. */
export const languages = { en: "en", de: "de", zh: "zh-Hans" } as const;

/** Namespace of the game's texts. */
export const namespace = "CH";

/** Everything one patch of the sample game consists of. */
export interface Dataset {
  readonly assets: Map<string, SampleAsset>;
  readonly texts: Map<string, LocalizedText>;
  /** Pictures by path below `Content/`. */
  readonly pictures: Map<string, PictureOf>;
}

/** Description of an icon; equal values yield equal bytes. */
export interface PictureOf {
  /** Name of a shape of shapes.ts. */
  shape: string;
  /** Colour of the shape and of the ground, as "#rrggbb". */
  ink: string;
  ground: string;
}

export const createDataset = (): Dataset => ({
  assets: new Map(),
  texts: new Map(),
  pictures: new Map(),
});

export function add(
  dataset: Dataset,
  folder: string,
  name: string,
  properties: SampleAsset["properties"] = {},
): void {
  if (dataset.assets.has(name)) throw new Error(`the sample has ${name} twice`);
  dataset.assets.set(name, { folder, name, properties });
}

export const tag = (name: string) => ({ TagName: name });
export const tags = (...names: string[]) => names.map(tag);

/** A soft reference. */
export const ref = (folder: string, name: string) => ({
  AssetPathName: `/Game/Cinderhold/Data/Generated/V2/${folder}/${name}.${name}`,
  SubPathString: "",
});

/** A reference by type and name. */
export const primary = (type: string, name: string) => ({
  PrimaryAssetType: { Name: `DesignData${type}` },
  PrimaryAssetName: name,
});

/** A text property; adds the text to the tables of its languages. */
export function text(dataset: Dataset, key: string, localized: LocalizedText) {
  dataset.texts.set(key, localized);
  return { Namespace: namespace, Key: key };
}

/** `ArtData` of an asset with an icon; adds the picture at this path. */
export function icon(dataset: Dataset, path: string, picture: PictureOf) {
  dataset.pictures.set(path, picture);
  const name = path.split("/").at(-1);
  return { AssetPathName: `/Game/${path}.${name}`, SubPathString: "" };
}

/** A number from 0 to `below` - 1, a hash of the words. */
export function pick(words: string, below: number): number {
  let mixed = 2_166_136_261;
  for (let at = 0; at < words.length; at++)
    mixed = Math.imul(mixed ^ words.charCodeAt(at), 16_777_619);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 2_246_822_519);
  return ((mixed ^ (mixed >>> 13)) >>> 0) % below;
}

/** "Potion of Sight" -> "PotionOfSight" */
export const pascal = (words: string) =>
  words
    .replaceAll("'", "")
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== "")
    .map((word) => word[0]?.toUpperCase() + word.slice(1))
    .join("");
