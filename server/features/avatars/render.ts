import { recordDegraded } from "../../platform/faults/degraded.ts";
import { hash } from "node:crypto";
import { readShownAvatar, type ShownAvatar } from "../../../db/queries/avatars/avatars.ts";
import { loadCatalogue } from "./domain/catalogue.ts";
import {
  defaultSize,
  drawAnonymous,
  drawGenerated,
  drawIcon,
  drawPicture,
  maxSize,
  minSize,
  shapes,
} from "./domain/draw.ts";
import {
  backgroundOf,
  borderOf,
  colorOf,
  defaultBackground,
  defaultColor,
} from "./domain/palettes.ts";
import { AppError } from "../../platform/errors.ts";
import { createByteLruCache } from "../../platform/cache/byte-lru-cache.ts";
import type { AvatarDeps } from "./deps.ts";

/** A drawing, or the provider's address for a redirect. */
export type Rendered = { svg: string } | { location: string };

type RenderDeps = Pick<
  AvatarDeps,
  "em" | "log" | "faults" | "origin" | "pictures" | "providerPictures"
>;

interface RenderOptions {
  size: number;
  /** Draw the generated picture, whatever the player chose. */
  isFallback: boolean;
}

/** Falls back to the generated picture when a choice cannot be shown or the account is closed (AV-07). */
export async function renderPlayer(
  deps: RenderDeps,
  playerId: number,
  { size, isFallback }: RenderOptions,
): Promise<Rendered | null> {
  const shown = await readShownAvatar(deps.em, playerId);
  if (!shown) return null;
  const chosen = isFallback ? null : await renderChoice(deps, shown, size);
  return chosen ?? { svg: drawGenerated(playerId, size) };
}

export const renderNobody = (size: number): Rendered => ({ svg: drawAnonymous(size) });

async function renderChoice(
  deps: RenderDeps,
  shown: ShownAvatar,
  size: number,
): Promise<Rendered | null> {
  const { source } = shown;
  if (source === "custom") return renderClaim(shown, size);
  if (source === "upload") return renderUpload(deps, shown, size);
  if (source === null || shown.providerUrl === null) return null;
  const location = await deps.providerPictures.usable(shown.providerUrl, deps.origin);
  return location === null ? null : { location };
}

async function renderClaim(shown: ShownAvatar, size: number): Promise<Rendered | null> {
  const icon = (await loadCatalogue()).byName(shown.icon ?? "");
  if (!icon) return null;
  const look = {
    color: colorOf(shown.color ?? "") ?? defaultColor,
    bg: backgroundOf(shown.bg ?? "") ?? defaultBackground,
    border: borderOf(shown.border ?? ""),
    shape: "rect",
    size,
  } as const;
  return { svg: drawIcon(icon, look) };
}

async function renderUpload(
  deps: RenderDeps,
  { file }: ShownAvatar,
  size: number,
): Promise<Rendered | null> {
  if (file === null) return null;
  try {
    return { svg: drawPicture(await deps.pictures.read(file), size) };
  } catch (error) {
    deps.log.warn(
      { event: "picture_read_failed", err: error },
      "stored picture not read, the answer is as without one",
    );
    recordDegraded(deps, "stored-picture", error, deps.origin);
    return null;
  }
}

export interface IconOptions {
  color: string;
  bg: string;
  /** Empty means none. */
  border: string;
  shape: string;
}

export interface DrawnIcon {
  svg: Buffer;
  etag: string;
}

/** Bytes of cached icons in a process: a hit takes 2 µs, a drawing 11 (`bench -- floor avatars icons` of 78e86f62). */
const maxDrawnBytes = 8 * 1024 * 1024;
const drawnIcons = createByteLruCache<DrawnIcon>({
  maxBytes: maxDrawnBytes,
  sizeOf: ({ svg }) => svg.length,
});

/** An icon with the requested options; throws `avatar:invalid_option` for one that no palette has. */
export async function renderIcon(
  slug: string,
  { color, bg, border, shape }: IconOptions,
  size: number,
): Promise<DrawnIcon> {
  const key = JSON.stringify([slug, color, bg, border, shape, size]);
  return drawnIcons.fetch(key, () => draw(slug, { color, bg, border, shape }, size));
}

async function draw(slug: string, options: IconOptions, size: number): Promise<DrawnIcon> {
  const color = colorOf(options.color);
  const bg = backgroundOf(options.bg);
  const border = options.border === "" ? null : borderOf(options.border);
  const shape = shapes.find((one) => one === options.shape);
  const isBorderKnown = options.border === "" || border !== null;
  if (color === null || bg === null || shape === undefined || !isBorderKnown)
    throw new AppError("avatar:invalid_option");
  const icon = (await loadCatalogue()).bySlug(slug);
  if (!icon) throw new AppError("avatar:icon_not_found");
  const svg = Buffer.from(drawIcon(icon, { color, bg, border, shape, size }));
  return { svg, etag: `"${hash("sha1", svg, "base64url")}"` };
}

/** A value that is no integer becomes the default; one out of bounds is clamped (AV-08). */
export function sizeOf(wanted: string | number | undefined): number {
  const text = String(wanted ?? defaultSize);
  const size = /^-?\d+$/.test(text) ? Number(text) : defaultSize;
  return Math.min(Math.max(size, minSize), maxSize);
}

const flags: Readonly<Record<string, boolean>> = {
  true: true,
  "1": true,
  "": true,
  false: false,
  "0": false,
};

/** As every boolean in a query (HTTP-07). */
export function flagOf(wanted: string | undefined): boolean {
  if (wanted === undefined) return false;
  const value = Object.hasOwn(flags, wanted) ? flags[wanted] : undefined;
  if (value === undefined)
    throw new AppError("request:invalid_query", { params: { parameter: "fallback" } });
  return value;
}
