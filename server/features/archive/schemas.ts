import Type, { type Static } from "typebox";
import { assetRoles } from "./domain/asset-roles.ts";
import { Timestamp } from "../../platform/schemas.ts";

const Nullable = (type: string, rest = {}) =>
  Type.Unsafe<string | null>({ type: [type, "null"], ...rest });
const optional = Type.Optional;
const Any = Type.Unknown();

export const PatchRef = Type.Object(
  {
    id: Type.Integer(),
    version: Type.String(),
    version_raw: Type.String(),
  },
  { title: "PatchRef" },
);
export type PatchRef = Static<typeof PatchRef>;

export const PatchRow = Type.Object(
  {
    ...PatchRef.properties,
    branch: Type.String(),
    released_at: Nullable("string", { format: "date-time" }),
    imported_at: Timestamp,
    parent_id: Type.Unsafe<number | null>({ type: ["integer", "null"] }),
    num_added: Type.Integer(),
    num_changed: Type.Integer(),
    num_removed: Type.Integer(),
  },
  { title: "Patch" },
);
export type PatchRow = Static<typeof PatchRow>;

const NullablePatch = Type.Union([PatchRow, Type.Null()]);

export const GameList = Type.Object({
  games: Type.Array(
    Type.Object(
      {
        slug: Type.String(),
        display_name: Type.String(),
        branches: Type.Array(Type.String()),
        current_patch: NullablePatch,
      },
      { title: "Game" },
    ),
  ),
});

export const Manifest = Type.Object(
  {
    game: Type.String(),
    branch: Type.String(),
    patch: NullablePatch,
    types: Type.Record(Type.String(), Type.Integer()),
    total: Type.Integer(),
    locales: Type.Array(Type.String()),
  },
  { title: "Manifest" },
);

export const PatchList = Type.Object({ patches: Type.Array(PatchRow) });
export const OnePatch = Type.Object({ patch: PatchRow });

const Hash = Type.String({ pattern: "^[0-9a-f]{64}$" });
const members = {
  id: Type.String(),
  type: Type.String(),
  game: Type.String(),
  branch: Type.String(),
  upstream_key: Nullable("string"),
  patch: PatchRef,
  name: Type.String(),
  tags: Type.Array(Type.String()),
  icon: Type.Union([Type.Object({ hash: Hash, url: Type.String() }), Type.Null()]),
  data: Type.Record(Type.String(), Any),
  links: Type.Array(Type.Object({ rel: Type.String(), target: Type.String() })),
  assets: Type.Array(
    Type.Object({
      role: Type.Enum([...assetRoles]),
      hash: Hash,
      media_type: Type.String(),
      bytes: Type.Integer(),
      url: Type.String(),
    }),
  ),
};
/** A row inside another; it is not hydrated itself (COD-06). */
const PlainEntity = Type.Object(members, { title: "Entity" });
const MaybeEntity = Type.Union([PlainEntity, Type.Null()]);

export const Entity = Type.Object(
  {
    ...members,
    hydrated: optional(
      Type.Record(Type.String(), Type.Union([MaybeEntity, Type.Array(MaybeEntity)])),
    ),
  },
  { title: "HydratedEntity" },
);

export const EntityList = Type.Object({
  entities: Type.Array(PlainEntity),
  count: Type.Integer(),
  limit: Type.Integer(),
  next: Type.Unsafe<number | null>({ type: ["integer", "null"] }),
});

export const History = Type.Object(
  {
    id: Type.String(),
    game: Type.String(),
    branch: Type.String(),
    history: Type.Array(
      Type.Object({
        row_id: Type.Integer(),
        patch_id: Type.Integer(),
        patch_version: Type.String(),
        patch_version_raw: Type.String(),
        released_at: Nullable("string", { format: "date-time" }),
        content_hash: Hash,
        is_tombstone: Type.Boolean(),
      }),
    ),
  },
  { title: "EntityHistory" },
);

const FieldChange = Type.Object(
  { path: Type.String(), before: Any, after: Any },
  { title: "FieldChange" },
);
const Summary = Type.Object(
  {
    added: Type.Integer(),
    removed: Type.Integer(),
    changed: Type.Integer(),
  },
  { title: "DiffSummary" },
);
const entryMembers = {
  id: Type.String(),
  type: Type.String(),
  after: optional(Any),
  before: optional(Any),
  changes: optional(Type.Array(FieldChange)),
};
const DiffEntry = Type.Object(
  {
    ...entryMembers,
    op: Type.Enum(["added", "removed", "changed", "unchanged"]),
  },
  { title: "DiffEntry" },
);

export const DiffDocument = Type.Object(
  {
    from: PatchRef,
    to: PatchRef,
    entries: Type.Array(DiffEntry),
    summary: Summary,
  },
  { title: "Diff" },
);

/** The members of the entry, repeated beside it (COD-07). */
export const EntityDiff = Type.Object(
  {
    from: PatchRef,
    to: PatchRef,
    ...DiffEntry.properties,
    entry: DiffEntry,
    summary: Summary,
  },
  { title: "EntityDiff" },
);

const Named = { id: Type.String(), name: Type.String() };
export const Changelog = Type.Object(
  {
    game: Type.String(),
    branch: Type.String(),
    from: Type.Union([PatchRef, Type.Null()]),
    to: PatchRef,
    types: Type.Record(
      Type.String(),
      Type.Object({
        added: Type.Array(Type.Object({ ...Named, after: Any })),
        removed: Type.Array(Type.Object({ ...Named, before: Any })),
        changed: Type.Array(Type.Object({ ...Named, changes: Type.Array(FieldChange) })),
      }),
    ),
    summary: Summary,
    count: Type.Integer(),
    limit: Type.Integer(),
    cursor: Type.Integer(),
    next: Type.Unsafe<number | null>({ type: ["integer", "null"] }),
  },
  { title: "Changelog" },
);

export const GameParams = Type.Object({ game: Type.String() });
export const VersionParams = Type.Object({ game: Type.String(), version: Type.String() });
export const VersionPairParams = Type.Object({
  game: Type.String(),
  a: Type.String(),
  b: Type.String(),
});
export const TypeParams = Type.Object({ game: Type.String(), type: Type.String() });
export const EntityParams = Type.Object({ game: Type.String(), id: Type.String() });
export const AssetParams = Type.Object({ hash: Type.String() });

const branch = Type.String({ default: "main" });
const cursor = Type.Integer({ minimum: 0, default: 0 });
export const BranchQuery = Type.Object({ branch });
export const ListQuery = Type.Object({
  branch,
  limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
  cursor,
  q: optional(
    Type.String({
      maxLength: 128,
      description:
        "prefixes of words in name and description, ignoring case and accents; refused as too short if there are over 100,000 matches or the search takes over 120 ms",
    }),
  ),
});
export const EntityQuery = Type.Object({
  branch,
  at_patch: optional(Type.String()),
  hydrate: optional(Type.String()),
});
export const RangeQuery = Type.Object({ branch, from: Type.String(), to: Type.String() });
export const ChangelogQuery = Type.Object({
  branch,
  format: Type.String({ default: "json", description: "json, markdown or md" }),
  type: optional(Type.String()),
  from: optional(Type.String()),
  to: optional(Type.String()),
  // A value out of bounds has its own error code (COD-12).
  limit: Type.Unsafe<number>({ type: "integer", default: 100, clamp: false }),
  cursor: Type.Integer({ default: 0 }),
});
export const AssetQuery = Type.Object({
  size: optional(Type.String({ description: "WxH, for an image proxy in front" })),
  format: optional(Type.String({ description: "webp, for an image proxy in front" })),
});
