import { Compile } from "typebox/compile";
import { searchWords } from "../../../server/platform/text/search-words.ts";
import { readReference } from "../../envelope/asset-reference.ts";
import { contentHash } from "../../envelope/canonical.ts";
import { SourceEntity, type AssetReference, type AssetRole } from "../../envelope/contract.ts";
import { idOfUpstreamKey, typeOfId } from "../../envelope/entity-id.ts";
import {
  findValueProblems,
  isKeptExactly,
  type ValueProblem,
} from "../../envelope/json-problems.ts";
import { formerData, keptPlaces, type KeptKeys } from "../../envelope/kept-keys.ts";
import type { ProblemList } from "../../envelope/problem-list.ts";
import { shapeProblems } from "../../envelope/shape-problems.ts";
import type { AssetLookup, KnownAsset } from "./asset-index.ts";

/** Bytes of JSON one entity may have. */
export const maxEntityBytes = 1024 * 1024;
/** Problems listed of one entity. */
const maxPerEntity = 20;
const hashPattern = /^[0-9a-f]{64}$/;

/** An entity as the archive stores it. */
export interface PreparedEntity {
  key: string;
  type: string;
  upstreamKey: string;
  hash: string;
  /** Hash of the same entity as versions before COD-21 stored it, if that was another one. */
  formerHash?: string;
  /** Lazy: most entities of a patch are not written. */
  content(): PreparedContent;
}

export interface PreparedContent {
  /** JSON of the wire members that depend on the content alone. */
  body: string;
  /** Search words, separated by blanks. */
  words: string;
}

export interface PrepareContext {
  /** English texts by key. */
  english: Readonly<Record<string, string>>;
  assets: AssetLookup;
  problems: ProblemList;
  /** Collects keys that kept their spelling; null if the keys of `data` were not converted. */
  keptKeys?: KeptKeys | null;
}

/** Increase it when the same entity text yields another stored entity than before, or a refusal. */
export const preparingVersion = 4;

/**
 * A digest of all inputs of a stored entity besides its text. Files referenced by hash alone are left out: they
 * stay the same as long as the entity exists.
 */
export function contextDigest(
  englishHash: string | null,
  { byPath }: Pick<AssetLookup, "byPath">,
): string {
  const files = [...byPath].map(([path, { hash, mediaType, bytes, role }]) => [
    path,
    hash,
    mediaType,
    bytes,
    role,
  ]);
  return contentHash([preparingVersion, process.versions["unicode"], englishHash, files]);
}

const shape = Compile(SourceEntity);

/** Checks one entity of an envelope and derives the stored form; null after a problem. `number` counts from 1. */
export async function prepareEntity(
  source: unknown,
  number: number,
  context: PrepareContext,
): Promise<PreparedEntity | null> {
  const label = labelOf(source, number);
  const add = (place: string, problem: string) => context.problems.add(label, place, problem);
  if (!isSound(source)) {
    for (const { place, problem } of problemsOf(source)) add(place, problem);
    return null;
  }
  const key = source.id ?? idOfUpstreamKey(source.upstream_key, source.type);
  const typeInKey = typeOfId(key);
  if (typeInKey === null) add("id", `${key} is not of the form id.<type>.<name>`);
  else if (typeInKey !== source.type) add("id", `${key} names another type than ${source.type}`);
  for (const [index, link] of (source.links ?? []).entries())
    if (typeOfId(link.target) === null)
      add(`links[${index}].target`, `${link.target} is not of the form id.<type>.<name>`);
  const icon = await resolveIcon(source.icon, context, add);
  const assets = await resolveAssets(source.assets ?? [], context, add);
  if (typeInKey !== source.type || icon === undefined || assets === null) return null;
  const kept = context.keptKeys ? keptPlaces(source.data, "data") : [];
  context.keptKeys?.add(key, kept);
  const parts = { key, icon, assets, english: context.english };
  const prepared = compose(source, parts);
  if (kept.length === 0) return prepared;
  const former = compose({ ...source, data: formerData(source.data) }, parts);
  return former.hash === prepared.hash ? prepared : { ...prepared, formerHash: former.hash };
}

function labelOf(source: unknown, number: number): string {
  const { id, upstream_key: upstreamKey } = (source ?? {}) as Record<string, unknown>;
  if (typeof id === "string" && id !== "") return id;
  return typeof upstreamKey === "string" && upstreamKey !== "" ? upstreamKey : `entity ${number}`;
}

function isSound(source: unknown): source is SourceEntity {
  return shape.Check(source) && isKeptExactly(source);
}

function problemsOf(source: unknown): ValueProblem[] {
  const found: ValueProblem[] = [];
  findValueProblems(source, "", found, maxPerEntity);
  if (found.length > 0) return found;
  return shapeProblems(shape.Errors(source), maxPerEntity);
}

type Add = (place: string, problem: string) => void;

/** Null without an icon, undefined for an icon without a file. */
async function resolveIcon(
  icon: string | null | undefined,
  context: PrepareContext,
  add: Add,
): Promise<string | null | undefined> {
  if (icon === null || icon === undefined) return null;
  const asset = await findAsset(icon, context.assets);
  if (asset === null) add("icon", `${icon} is no asset of this or an earlier import`);
  return asset?.hash;
}

interface RoledAsset extends KnownAsset {
  role: AssetRole;
}

async function resolveAssets(
  references: readonly AssetReference[],
  context: PrepareContext,
  add: Add,
): Promise<RoledAsset[] | null> {
  const found = new Map<string, RoledAsset>();
  let isComplete = true;
  for (const [index, reference] of references.entries()) {
    const { name, role } = readReference(reference);
    if (name === null) {
      add(`assets[${index}]`, "names one of path and hash");
      isComplete = false;
      continue;
    }
    const asset = await findAsset(name, context.assets);
    if (asset === null) {
      add(`assets[${index}]`, `${name} is no asset of this or an earlier import`);
      isComplete = false;
      continue;
    }
    const roled = { ...asset, role: role ?? asset.role ?? roleOfType(asset.mediaType) };
    found.set(`${roled.role} ${roled.hash}`, roled);
  }
  // Sorted, so that the order of references does not count as a change.
  return isComplete
    ? [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, asset]) => asset)
    : null;
}

async function findAsset(name: string, assets: AssetLookup): Promise<KnownAsset | null> {
  const byPath = assets.byPath.get(name);
  if (byPath !== undefined) return byPath;
  return hashPattern.test(name) ? assets.byHash(name) : null;
}

const roleOfType = (mediaType: string): AssetRole =>
  mediaType.startsWith("audio/") ? "audio" : "other";

interface ResolvedParts {
  key: string;
  icon: string | null;
  assets: readonly RoledAsset[];
  english: Readonly<Record<string, string>>;
}

function compose(
  source: SourceEntity,
  { key, icon, assets, english }: ResolvedParts,
): PreparedEntity {
  const textOf = (name: string) => (Object.hasOwn(english, name) ? english[name] : undefined);
  const name =
    (source.name_key ? textOf(source.name_key) : undefined) ||
    source.name ||
    key.split(".").slice(2).join(".") ||
    key;
  const tags = [...new Set(source.tags)].sort();
  const links = (source.links ?? [])
    .map(({ rel, target }) => ({ rel, target }))
    .sort((a, b) => compareTexts(a.rel, b.rel) || compareTexts(a.target, b.target));
  const { data } = source;
  const hash = contentHash({
    name,
    tags,
    icon: icon === null ? null : { hash: icon },
    data,
    links,
    assets: assets.map(({ role, hash: asset }) => ({ role, hash: asset })),
  });
  const content = (): PreparedContent => {
    const wire = {
      name,
      tags,
      icon: icon === null ? null : { hash: icon, url: assetUrl(icon) },
      data,
      links,
      assets: assets.map(({ role, hash: asset, mediaType, bytes }) => ({
        role,
        hash: asset,
        media_type: mediaType,
        bytes,
        url: assetUrl(asset),
      })),
    };
    const description = Object.hasOwn(data, "description") ? data["description"] : null;
    const spoken = typeof description === "string" ? (textOf(description) ?? description) : "";
    return {
      body: JSON.stringify(wire).slice(1, -1),
      words: searchWords(`${name}\n${spoken}`).join(" "),
    };
  };
  const { type, upstream_key: upstreamKey } = source;
  return { key, type, upstreamKey, hash, content };
}

const assetUrl = (hash: string) => `/v1/codex/assets/${hash}`;
const compareTexts = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
