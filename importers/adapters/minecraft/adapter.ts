import type { ImportEnvelope, SourceEntity } from "../../envelope/contract.ts";
import { defineAdapter } from "../adapter.ts";
import { readInside } from "../../envelope/envelope-file.ts";
import { kinds, type Kind } from "./kinds.ts";
import { createRelease, type ReleaseData } from "./release.ts";
import { openMinecraft, type MinecraftSource, type Release } from "./source.ts";

const categories = [...new Set(kinds.flatMap(({ needs }) => needs))];

/** Every release with items and blocks in the public package `minecraft-data`, as patches of one branch. */
export const minecraft = defineAdapter({
  game: "minecraft",
  async *read(folder) {
    const source = await openMinecraft(folder);
    // Entities of the previous release, by kind: adjacent releases often share all files of a kind.
    const made = new Map<Kind, { from: string; entities: readonly SourceEntity[] }>();
    const readPicture = pictureReader(source.pictures?.folder ?? "");
    for (const release of source.releases) {
      const data = await readRelease(source, release);
      for (const kind of kinds) {
        const from = originOf(kind, release, source);
        if (made.get(kind)?.from !== from)
          made.set(kind, { from, entities: firstOfEach(kind.make(data)) });
      }
      const entities = kinds.flatMap((kind) => made.get(kind)?.entities ?? []);
      yield envelopeOf(release, data, entities, readPicture);
    }
  },
});

async function readRelease(source: MinecraftSource, release: Release): Promise<ReleaseData> {
  const contents = new Map<string, unknown>();
  for (const category of categories) contents.set(category, await source.read(release, category));
  return createRelease(
    release.version,
    contents,
    (name, folders) => source.pictures?.find(release.version, name, folders) ?? null,
  );
}

/** Names the source files of a kind. */
function originOf(kind: Kind, { version, folders }: Release, { pictures }: MinecraftSource) {
  const files = kind.needs.map((category) => folders.get(category) ?? "");
  return [...files, kind.hasPictures ? (pictures?.setOf(version) ?? "") : ""].join(" ");
}

/** Old releases list some entities twice under one name. */
function firstOfEach(entities: readonly SourceEntity[]): SourceEntity[] {
  const seen = new Set<string | undefined>();
  return entities.filter(({ id }) => !seen.has(id) && seen.add(id));
}

/** Caches the pictures of the last set, since adjacent releases share them. */
function pictureReader(folder: string): ImportEnvelope["readAsset"] {
  const cached = new Map<string, Uint8Array>();
  let cachedSet = "";
  return async (path) => {
    const set = path.slice(0, path.indexOf("/"));
    if (set !== cachedSet) cached.clear();
    cachedSet = set;
    const known = cached.get(path);
    if (known !== undefined) return known;
    const content = await readInside(folder, path);
    cached.set(path, content);
    return content;
  };
}

function envelopeOf(
  { version }: Release,
  data: ReleaseData,
  entities: readonly SourceEntity[],
  readAsset: ImportEnvelope["readAsset"],
): ImportEnvelope {
  const icons = new Set(
    entities.map(({ icon }) => icon).filter((icon) => typeof icon === "string"),
  );
  return {
    name: `minecraft ${version}`,
    header: {
      format: 1,
      game: { slug: "minecraft", display_name: "Minecraft" },
      branch: { slug: "main" },
      patch: { version_raw: version, released_at: null },
    },
    assets: [...icons].map((path) => ({ path, media_type: "image/png", role: "icon" as const })),
    locales: { en: textsOf(data) },
    hasSnakeKeys: true,
    entityCount: entities.length,
    entities: () => entities,
    readAsset,
  };
}

const textKey =
  /^(?:item|block|entity|effect|enchantment|biome)\.minecraft\.[a-z0-9_]+(?:\.desc)?$/;

/** The texts of entities, without those of menus. */
function textsOf(data: ReleaseData): Record<string, string> {
  return Object.fromEntries(
    Object.entries(data.record("language")).filter(
      (entry): entry is [string, string] => typeof entry[1] === "string" && textKey.test(entry[0]),
    ),
  );
}
