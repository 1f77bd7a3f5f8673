import Type, { type Static, type TProperties } from "typebox";
import { assetRoles } from "../../server/features/archive/domain/asset-roles.ts";

export type AssetRole = (typeof assetRoles)[number];

const Text = (maxLength: number) => Type.String({ minLength: 1, maxLength });
const Role = Type.Enum([...assetRoles]);
const optional = Type.Optional;
/** Unknown members are refused: a misspelt member would otherwise count as missing and remove data. */
const closed = <T extends TProperties>(members: T) =>
  Type.Object(members, { additionalProperties: false });

/** Entities one envelope may have. */
export const maxEntities = 1_000_000;
/** Files one envelope may have. */
export const maxAssets = 100_000;
/** Bytes one file may have. */
export const maxAssetBytes = 16 * 1024 * 1024;

/** Members of an import envelope before its lists (IMP-01). */
export const EnvelopeHeader = closed({
  format: Type.Literal(1),
  game: closed({
    slug: Type.String({ pattern: "^(?!(games|assets)$)[a-z0-9][a-z0-9-]*$", maxLength: 63 }),
    display_name: Text(128),
  }),
  branch: closed({
    slug: Type.String({ pattern: "^[a-z0-9][a-z0-9._-]*$", maxLength: 63 }),
    /** Slug of the parent branch, and the version of the fork; required for a new branch (COD-15). */
    parent: optional(Text(63)),
    fork_version: optional(Text(128)),
  }),
  patch: closed({
    version_raw: Type.String({ pattern: "^[!-.0-~]+$", maxLength: 128 }),
    /** Required if the rule of COD-14 cannot read `version_raw`. */
    canonical: optional(Type.String({ maxLength: 128 })),
    /** ISO 8601 with an offset; null if upstream gives no date. */
    released_at: Type.Unsafe<string | null>({ type: ["string", "null"], format: "date-time" }),
  }),
});
export type EnvelopeHeader = Static<typeof EnvelopeHeader>;

/** A file of the envelope; `path` is relative to the envelope and stays in its folder. */
export const SourceAsset = closed({
  path: Text(512),
  media_type: Type.String({ pattern: "^[a-z]+/[a-z0-9][a-z0-9.+-]*$", maxLength: 127 }),
  role: optional(Role),
});
export type SourceAsset = Static<typeof SourceAsset>;

/** A reference by path, or by the SHA-256 of an asset of this or an earlier import. */
const AssetReference = Type.Union([
  Text(512),
  /** With either `path` or `hash`. */
  closed({
    path: optional(Text(512)),
    hash: optional(Type.String({ pattern: "^[0-9a-f]{64}$" })),
    role: optional(Role),
  }),
]);
export type AssetReference = Static<typeof AssetReference>;

/** An entity of an adapter (IMP-01, IMP-02). */
export const SourceEntity = closed({
  upstream_key: Text(255),
  /** `id.<type>.<name>`; derived from the upstream key if absent. */
  id: optional(Type.String({ maxLength: 255 })),
  type: Type.String({
    pattern: "^(?!(manifest|patches|diff|changelog)$)[a-z][a-z0-9_]*$",
    maxLength: 64,
  }),
  /** Key of the English name in `locales`. */
  name_key: optional(Type.Unsafe<string | null>({ type: ["string", "null"], maxLength: 255 })),
  name: optional(Type.Unsafe<string | null>({ type: ["string", "null"], maxLength: 500 })),
  tags: optional(Type.Array(Text(255), { maxItems: 1000 })),
  icon: optional(Type.Unsafe<string | null>({ type: ["string", "null"], maxLength: 512 })),
  assets: optional(Type.Array(AssetReference, { maxItems: 1000 })),
  /** The members of upstream, without a schema. */
  data: Type.Record(Type.String(), Type.Unknown()),
  links: optional(Type.Array(closed({ rel: Text(128), target: Text(255) }), { maxItems: 4000 })),
});
export type SourceEntity = Static<typeof SourceEntity>;

/** `{locale: {key: text}}`, with the locale codes of upstream. */
export type SourceTexts = Readonly<Record<string, Readonly<Record<string, string>>>>;

/**
 * One patch of one branch, complete: data that is missing in it was removed. The check step validates every
 * envelope, whatever its source.
 */
export interface ImportEnvelope {
  /** Name of the source, for messages. */
  name: string;
  /** Problems from opening the file; the import is refused with them. */
  problems?: readonly ImportProblem[];
  header: EnvelopeHeader;
  assets: readonly SourceAsset[];
  locales: SourceTexts;
  /** The keys of `data` were converted to snake case by `snakeNames`, as adapters do (COD-21). */
  hasSnakeKeys?: boolean;
  /** Number of entities, if known in advance. */
  entityCount?: number;
  /** A digest of the text of each entity, in order, if the source is text. */
  digests?: readonly string[];
  /**
   * Yields every entity once; may be called again. With `digests`, exactly the wanted entities are yielded.
   */
  entities(isWanted?: IsWanted): AsyncIterable<SourceEntity> | Iterable<SourceEntity>;
  /** Bytes of an asset; rejects when it cannot be read. */
  readAsset(path: string): Promise<Uint8Array>;
}

/** Whether to read the entity at a position, counted from 0. */
export type IsWanted = (position: number) => boolean;

export interface ImportProblem {
  /** Id or upstream key of the entity, or the part of the envelope. */
  entity: string;
  /** Path inside it, for example `data.levels[2]`; empty for the whole. */
  place: string;
  problem: string;
}

/** Nothing was written; lists all problems, up to a bound. */
export class ImportRefused extends Error {
  readonly problems: readonly ImportProblem[];

  constructor(problems: readonly ImportProblem[], total = problems.length) {
    const lines = problems.map(({ entity, place, problem }) =>
      place === "" ? `  ${entity}: ${problem}` : `  ${entity} at ${place}: ${problem}`,
    );
    const more = total > problems.length ? [`  and ${total - problems.length} more`] : [];
    super(
      [`import:refused ${total} problem${total === 1 ? "" : "s"}`, ...lines, ...more].join("\n"),
    );
    this.name = "ImportRefused";
    this.problems = problems;
  }
}
