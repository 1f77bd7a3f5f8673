import type { AssetReference, AssetRole, SourceAsset } from "../../envelope/contract.ts";
import { isFields, listOf, textOf } from "../fields.ts";
import type { GameAsset } from "./assets.ts";
import { objectTarget, pathTarget } from "./values.ts";

/** Folder of assets that only assign pictures to other assets. */
export const artSystem = "ArtData/";

export interface Pictures {
  /** The files of the asset's `ArtData`: the icon, and all files with their roles. */
  of(asset: GameAsset): { icon: string | null; assets: AssetReference[] };
  /** The files of all assets so far. */
  used(): SourceAsset[];
}

const mediaTypes: Readonly<Record<string, string>> = {
  png: "image/png",
  webp: "image/webp",
  jpg: "image/jpeg",
  ogg: "audio/ogg",
  wav: "audio/wav",
};

export function createPictures(paths: readonly string[], assets: readonly GameAsset[]): Pictures {
  const files = new Map<string, string>();
  for (const path of paths) {
    const [, name = "", ending = ""] = /^Content\/(.+)\.(\w+)$/.exec(path) ?? [];
    if (Object.hasOwn(mediaTypes, ending)) files.set(name.toLowerCase(), path);
  }
  const art = new Map(
    assets
      .filter(({ folder }) => folder.startsWith(artSystem))
      .map((asset) => [asset.name.toLowerCase(), asset]),
  );
  const used = new Map<string, SourceAsset>();
  return {
    of({ properties }) {
      const found = filesOf(properties["ArtData"], "icon", files, art);
      for (const { path } of found)
        used.set(path, { path, media_type: mediaTypes[path.split(".").at(-1) ?? ""] ?? "" });
      return {
        icon: found.find(({ role }) => role === "icon")?.path ?? null,
        assets: found.map(({ path, role }) => ({ path, role })),
      };
    },
    used: () => [...used.values()].sort((a, b) => (a.path < b.path ? -1 : 1)),
  };
}

interface PictureFile {
  path: string;
  role: AssetRole;
}

type Files = ReadonlyMap<string, string>;
type Art = ReadonlyMap<string, GameAsset>;

/** A reference names a picture, or art data with references to pictures. */
function filesOf(value: unknown, role: AssetRole, files: Files, art: Art): PictureFile[] {
  if (!isFields(value)) return [];
  const path = textOf(value["AssetPathName"]) ?? textOf(value["ObjectPath"]) ?? "";
  const direct = files.get(contentPath(path));
  if (direct !== undefined) return [{ path: direct, role }];
  const target = pathTarget(value["AssetPathName"]) ?? objectTarget(value["ObjectName"]);
  const properties = art.get(target?.name.toLowerCase() ?? "")?.properties ?? {};
  return Object.entries(properties).flatMap(([name, member]) =>
    (Array.isArray(member) ? listOf(member) : [member]).flatMap((one) =>
      // No further level, so a cycle ends.
      filesOf(one, roleOf(name), files, new Map()),
    ),
  );
}

/** `/Game/UI/Icon_Torch.Icon_Torch` -> `ui/icon_torch` */
const contentPath = (path: string) =>
  path
    .replace(/^\/Game\//, "")
    .replace(/\.[^./]*$/, "")
    .toLowerCase();

function roleOf(name: string): AssetRole {
  if (/icon/i.test(name)) return "icon";
  if (/portrait/i.test(name)) return "portrait";
  return /sound|voice|audio/i.test(name) ? "audio" : "other";
}
