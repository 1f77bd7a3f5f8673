import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { asset } from "../../../server/platform/assets.ts";
import { readExports } from "../../adapters/gamedata/adapter.ts";
import type { FileTree } from "../../adapters/gamedata/tree.ts";
import type { ImportEnvelope } from "../../envelope/contract.ts";
import { drawPicture, type PictureOf } from "./pictures.ts";

/** Name of the sample game. */
export const sampleName = "Cinderhold";

/** Namespace of the game's texts. */
const namespace = "CH";

/** Languages with their upstream codes. German and Chinese have gaps, as translations do. */
const languages = { en: "en", de: "de", zh: "zh-Hans" } as const;

/** A file of `patches/`: what a patch changes of the one before it in its branch. Null removes. */
interface PatchFile {
  export: {
    version: string;
    /** ISO 8601; null for a patch without a date. */
    released_at: string | null;
    branch: string;
    /** Of a branch other than `main`: where it began. */
    parent?: string;
    fork_version?: string;
  };
  /** `<System>/<Kind>/<name>` -> properties as the exporter writes them. */
  assets: Record<string, Record<string, unknown> | null>;
  /** Key -> language -> text. */
  texts: Record<string, Partial<Record<keyof typeof languages, string>> | null>;
  /** Path below `Content/` -> icon. */
  pictures: Record<string, PictureOf | null>;
}

const folder = asset("importers/samples/cinderhold/patches");

/** `04-1.2.0.4311.json`: place in the order of imports, and raw version. */
const fileNames = () => readdirSync(folder).sort();

/** Raw versions of its patches. */
export const sampleVersions = (): string[] =>
  fileNames().map((name) => name.slice(name.indexOf("-") + 1, -".json".length));

/** The invented sample game: every patch as a folder of the exporter. The bytes are always the same. */
export function sampleTree(): FileTree {
  const files = new Map<string, () => unknown>();
  const drawn = new Map<string, Promise<Uint8Array>>();
  for (const { export: facts, assets, texts, pictures } of completePatches()) {
    const root = `${facts.branch}/${facts.version}`;
    files.set(`${root}/export.json`, () => ({ ...facts, display_name: sampleName, namespace }));
    for (const [path, properties] of Object.entries(assets)) {
      const [, kind, name] = path.split("/");
      const hasProperties = Object.keys(properties ?? {}).length > 0;
      files.set(`${root}/Data/Generated/V2/${path}.json`, () => [
        {
          Type: `DC${kind}DataAsset`,
          Name: name,
          ...(hasProperties ? { Properties: properties } : {}),
        },
      ]);
    }
    for (const [language, locale] of Object.entries(languages))
      files.set(`${root}/Content/Localization/Game/${locale}/Game.json`, () => ({
        [namespace]: textsIn(texts, language as keyof typeof languages),
      }));
    for (const [path, picture] of Object.entries(pictures))
      if (picture) files.set(`${root}/Content/${path}.png`, () => drawOnce(drawn, picture));
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
function completePatches(): PatchFile[] {
  const complete: PatchFile[] = [];
  for (const name of fileNames()) {
    const patch = JSON.parse(readFileSync(join(folder, name), "utf8")) as PatchFile;
    const { branch, fork_version: fork } = patch.export;
    // A branch continues its own last patch or its fork.
    const before = complete.findLast(
      (one) => one.export.branch === branch || one.export.version === fork,
    );
    complete.push({
      export: patch.export,
      assets: changed(before?.assets, patch.assets),
      texts: changed(before?.texts, patch.texts),
      pictures: changed(before?.pictures, patch.pictures),
    });
  }
  return complete;
}

const changed = <T>(before: Record<string, T | null> | undefined, by: Record<string, T | null>) =>
  Object.fromEntries(Object.entries({ ...before, ...by }).filter(([, value]) => value !== null));

function textsIn(texts: PatchFile["texts"], language: keyof typeof languages) {
  const entries = Object.entries(texts).map(([key, localized]) => [key, localized?.[language]]);
  return Object.fromEntries(entries.filter(([, text]) => text !== undefined));
}

function drawOnce(drawn: Map<string, Promise<Uint8Array>>, picture: PictureOf) {
  const key = `${picture.shape} ${picture.ink} ${picture.ground}`;
  const known = drawn.get(key) ?? drawPicture(picture);
  drawn.set(key, known);
  return known;
}
