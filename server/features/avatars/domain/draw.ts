import { hash } from "node:crypto";
import type { Icon } from "./catalogue.ts";
import { creditOf } from "./credits.ts";
import { bgs, borders, colors, type Background, type Border, type Color } from "./palettes.ts";

/** Pixels of a drawing (AV-08). */
export const minSize = 16;
export const maxSize = 512;
export const defaultSize = 128;

export const shapes = ["rect", "circle"] as const;
export type Shape = (typeof shapes)[number];

export interface IconLook {
  color: Color;
  bg: Background;
  border: Border | null;
  shape: Shape;
  size: number;
}

/** The canvas is 512 x 512. */
const field = 512;
const borderWidth = 28;
/** Share of the canvas an icon takes; in a circle its corners must stay inside. */
const iconScale = { rect: 0.78, circle: 0.64 };
/** Cells per side of the generated picture, which is mirrored. */
const numCells = 5;
const cell = 88;

const svg = (size: number, content: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}" viewBox="0 0 ${field} ${field}">${content}</svg>`;

function ground(shape: Shape, fill: string): string {
  return shape === "circle"
    ? `<circle cx="256" cy="256" r="256" fill="${fill}"/>`
    : `<rect width="${field}" height="${field}" fill="${fill}"/>`;
}

function frame(shape: Shape, stroke: string): string {
  const half = borderWidth / 2;
  const inner = field - borderWidth;
  const line = `fill="none" stroke="${stroke}" stroke-width="${borderWidth}"`;
  return shape === "circle"
    ? `<circle cx="256" cy="256" r="${256 - half}" ${line}/>`
    : `<rect x="${half}" y="${half}" width="${inner}" height="${inner}" ${line}/>`;
}

/** Draws an icon of the catalogue; equal options always give equal bytes. */
export function drawIcon(icon: Icon, { color, bg, border, shape, size }: IconLook): string {
  const scale = iconScale[shape];
  const offset = Math.round((field * (1 - scale)) / 2);
  return svg(
    size,
    `<desc>${creditOf(icon.author)}</desc>${ground(shape, bgs[bg])}` +
      `<g color="${colors[color]}" transform="translate(${offset} ${offset}) scale(${scale})">${icon.body}</g>` +
      (border === null ? "" : frame(shape, borders[border])),
  );
}

/** The default picture: a 5 x 5 pattern derived from the player id (AV-08). */
export function drawGenerated(playerId: number, size: number): string {
  const bytes = hash("sha256", String(playerId), "buffer");
  const at = (index: number): number => bytes[index] ?? 0;
  const shades = Object.values(colors);
  const grounds = Object.values(bgs).slice(0, 10);
  const color = shades[at(30) % shades.length] ?? colors.amber;
  const margin = (field - numCells * cell) / 2;
  const half = Math.ceil(numCells / 2);
  let cells = "";
  for (let y = 0; y < numCells; y++)
    for (let x = 0; x < numCells; x++) {
      const column = Math.min(x, numCells - 1 - x);
      if (at(y * half + column) % 2 === 1) continue;
      cells += `M${margin + x * cell} ${margin + y * cell}h${cell}v${cell}h-${cell}z`;
    }
  const fill = grounds[at(31) % grounds.length] ?? bgs.slate;
  return svg(size, `${ground("rect", fill)}<path fill="${color}" d="${cells}"/>`);
}

/** Anonymous picture. */
export function drawAnonymous(size: number): string {
  return svg(
    size,
    `${ground("rect", "#64748b")}<circle cx="256" cy="200" r="84" fill="#e2e8f0"/>` +
      `<path fill="#e2e8f0" d="M96 452a160 136 0 0 1 320 0z"/>`,
  );
}

/** A stored picture; `webp` fills the field (AV-07). */
export function drawPicture(webp: Uint8Array, size: number): string {
  const data = Buffer.from(webp.buffer, webp.byteOffset, webp.byteLength).toString("base64");
  return svg(
    size,
    `<image width="${field}" height="${field}" href="data:image/webp;base64,${data}"/>`,
  );
}
