import { readExports } from "../../adapters/gamedata/adapter.ts";
import type { FileTree } from "../../adapters/gamedata/tree.ts";
import type { ImportEnvelope } from "../../envelope/contract.ts";
import { languages, namespace, type Dataset, type PictureOf } from "./dataset.ts";
import { copyOf } from "./edits.ts";
import { patches, type SamplePatch } from "./patches.ts";
import { drawPicture } from "./pictures.ts";
import { firstWorld } from "./world.ts";

/** Name of the sample game. */
export const sampleName = "Cinderhold";

/** Raw versions of its patches. */
export const sampleVersions = (): readonly string[] => patches.map(({ version }) => version);

/**
 * The invented sample game: every patch as a folder of the exporter, generated in memory from tables. The bytes are
 * always the same.
 */
export function sampleTree(): FileTree {
  const files = new Map<string, () => unknown>();
  const pictures = new Map<string, Promise<Uint8Array>>();
  for (const [patch, dataset] of statesByPatch()) {
    const folder = `${patch.branch?.slug ?? "main"}/${patch.version}`;
    files.set(`${folder}/export.json`, () => factsOf(patch));
    for (const asset of dataset.assets.values())
      files.set(`${folder}/Data/Generated/V2/${asset.folder}/${asset.name}.json`, () => [
        {
          Type: `DC${asset.folder.split("/")[1]}DataAsset`,
          Name: asset.name,
          ...(Object.keys(asset.properties).length === 0 ? {} : { Properties: asset.properties }),
        },
      ]);
    for (const [language, locale] of Object.entries(languages))
      files.set(`${folder}/Content/Localization/Game/${locale}/Game.json`, () => ({
        [namespace]: textsIn(dataset, language as keyof typeof languages),
      }));
    for (const [path, picture] of dataset.pictures)
      files.set(`${folder}/Content/${path}.png`, () => drawOnce(pictures, picture));
  }
  const paths = [...files.keys()].sort();
  return {
    paths: async () => paths,
    async read(path) {
      const content = await files.get(path)?.();
      if (content === undefined) throw new Error("is not there");
      return content instanceof Uint8Array ? content : Buffer.from(JSON.stringify(content));
    },
  };
}

/** The sample game as envelopes, in import order. */
export const readSample = (game: string): AsyncIterable<ImportEnvelope> =>
  readExports(sampleTree(), { game, knownIds: async () => new Map() });

/** The complete game after each patch. */
function statesByPatch(): [SamplePatch, Dataset][] {
  const made: [SamplePatch, Dataset][] = [];
  for (const patch of patches) {
    const before = made.findLast(([one]) =>
      // A branch continues its own last patch or its fork, `main` its own last patch.
      patch.branch
        ? one.branch?.slug === patch.branch.slug || one.version === patch.branch.forkVersion
        : one.branch === undefined,
    );
    const dataset = copyOf(before?.[1] ?? firstWorld());
    patch.change(dataset);
    made.push([patch, dataset]);
  }
  return made;
}

function factsOf({ version, released, branch }: SamplePatch) {
  return {
    version,
    released_at: released,
    display_name: sampleName,
    namespace,
    ...(branch === undefined
      ? { branch: "main" }
      : { branch: branch.slug, parent: branch.parent, fork_version: branch.forkVersion }),
  };
}

function textsIn(dataset: Dataset, language: keyof typeof languages): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [key, localized] of dataset.texts) {
    const one = localized[language];
    if (one !== undefined) texts[key] = one;
  }
  return texts;
}

function drawOnce(drawn: Map<string, Promise<Uint8Array>>, picture: PictureOf) {
  const key = `${picture.shape} ${picture.ink} ${picture.ground}`;
  const known = drawn.get(key) ?? drawPicture(picture);
  drawn.set(key, known);
  return known;
}
