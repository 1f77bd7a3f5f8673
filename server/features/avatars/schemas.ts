import Type, { type Static } from "typebox";
import type { AvatarRow } from "../../../db/queries/avatars/avatars.ts";
import { defaultSize, maxSize, minSize } from "./domain/draw.ts";
import { defaultBackground, defaultColor } from "./domain/palettes.ts";
import { timestamp } from "../../platform/time/clock.ts";
import { Id } from "../../platform/schemas.ts";

const nullableText = Type.Unsafe<string | null>({ type: ["string", "null"] });
const Key = Type.Optional(nullableText);

/** Fields of other sources are ignored, so only their type is checked (AV-03). */
export const SelectionBody = Type.Object({
  source: nullableText,
  icon: Key,
  color: Key,
  bg: Key,
  border: Key,
});
export type SelectionBody = Static<typeof SelectionBody>;

export const Selection = Type.Object(
  {
    source: nullableText,
    icon: nullableText,
    color: nullableText,
    bg: nullableText,
    border: nullableText,
    upload_id: Type.Unsafe<number | null>({ type: ["integer", "null"] }),
    updated_at: Type.String({ format: "date-time" }),
  },
  { title: "Avatar" },
);

export const SelectionAnswer = Type.Object({ avatar: Selection });

export function presentSelection(row: AvatarRow): Static<typeof Selection> {
  const { source, icon, color, bg, border, uploadId, updatedAtMs } = row;
  return {
    source,
    icon,
    color,
    bg,
    border,
    upload_id: uploadId,
    updated_at: timestamp(updatedAtMs),
  };
}

/** Any text: a value that is no integer becomes the default (AV-08). */
const Size = Type.Optional(
  Type.Unsafe<string | number>({
    type: "integer",
    minimum: minSize,
    maximum: maxSize,
    default: defaultSize,
  }),
);
const Flag = Type.Optional(Type.Unsafe<string>({ type: "boolean" }));

export const RenderQuery = Type.Object({ size: Size, fallback: Flag });
export const PlayerRenderQuery = Type.Object({
  ...RenderQuery.properties,
  v: Type.Optional(Type.String({ description: "ignored: cache-buster of the avatar" })),
});
export const IconQuery = Type.Object({
  color: Type.String({ default: defaultColor }),
  bg: Type.String({ default: defaultBackground }),
  border: Type.String({ default: "", description: "empty: none" }),
  shape: Type.String({ default: "rect", description: "rect or circle" }),
  size: Size,
});

export const PlayerId = Type.Object({
  id: Id,
});
export const IconSlug = Type.Object({ slug: Type.String({ pattern: "^[a-z0-9._-]{1,64}$" }) });

export const AvailableQuery = Type.Object({ mine: Type.Optional(Type.Integer()) });
export const AvailableIcons = Type.Object({
  icons: Type.Array(
    Type.Object({ author: Type.String(), slug: Type.String(), tags: Type.Array(Type.String()) }),
  ),
  total: Type.Integer(),
  taken_count: Type.Integer(),
  palettes: Type.Object({
    colors: Type.Array(Type.String()),
    bgs: Type.Array(Type.String()),
    borders: Type.Array(Type.String()),
  }),
});

const Uri = Type.String({ format: "uri" });
export const Credits = Type.Object({
  source: Type.Object({ name: Type.String(), url: Uri }),
  authors: Type.Array(
    Type.Object({
      author: Type.String(),
      name: Type.String(),
      num_icons: Type.Integer(),
      licence: Type.String(),
      licence_url: Uri,
    }),
  ),
});
