import sharp from "sharp";
import { shapes } from "./shapes.ts";

/** Description of an icon; equal values yield equal bytes. */
export interface PictureOf {
  /** Name of a shape of shapes.ts. */
  shape: string;
  /** Colour of the shape and of the ground, as "#rrggbb". */
  ink: string;
  ground: string;
}

/** Width and height of an icon. */
const size = 64;
/** Sample points per pixel, along each side. */
const fineness = 4;
const grid = 24;
const corner = 9;

type Point = readonly [x: number, y: number];
type Colour = readonly [red: number, green: number, blue: number];

/** Coverage of each pixel by a shape, from 0 to 1; cached by shape. */
const covered = new Map<string, Float32Array>();

/** Draws an icon as PNG, pixel by pixel, so the bytes do not depend on the system. */
export async function drawPicture({ shape, ink, ground }: PictureOf): Promise<Uint8Array> {
  const cover = coverOf(shape);
  const [light, dark] = [colourOf(ink), colourOf(ground)];
  const pixels = Buffer.alloc(size * size * 4);
  for (let y = 0; y < size; y++) {
    // Light falls from above.
    const shade = 1.12 - (y / size) * 0.3;
    for (let x = 0; x < size; x++) {
      const share = cover[y * size + x] ?? 0;
      const rim = isRim(x, y) ? 0.35 : 0;
      const mixed = Math.max(share, rim);
      const at = (y * size + x) * 4;
      for (const [channel, value] of light.entries())
        pixels[at + channel] = Math.min(
          255,
          Math.round(((dark[channel] ?? 0) * (1 - mixed) + value * mixed) * shade),
        );
      pixels[at + 3] = isInside(x, y, 0) ? 255 : 0;
    }
  }
  const raw = { raw: { width: size, height: size, channels: 4 as const } };
  return sharp(pixels, raw).png({ compressionLevel: 9 }).toBuffer();
}

const isRim = (x: number, y: number) => isInside(x, y, 0) && !isInside(x, y, 2);

/** Whether a pixel lies in the rounded square, `inset` pixels smaller on each side. */
function isInside(x: number, y: number, inset: number): boolean {
  const [low, high] = [inset, size - 1 - inset];
  if (x < low || y < low || x > high || y > high) return false;
  const [left, right] = [low + corner, high - corner];
  const dx = Math.max(left - x, x - right, 0);
  const dy = Math.max(left - y, y - right, 0);
  return dx * dx + dy * dy <= corner * corner;
}

function coverOf(shape: string): Float32Array {
  const known = covered.get(shape);
  if (known) return known;
  const outlines = (shapes[shape] ?? []).map(outlineOf);
  if (outlines.length === 0) throw new Error(`there is no shape ${shape}`);
  const cover = new Float32Array(size * size);
  // The drawing leaves a margin of a tenth on each side.
  const unit = grid / (size * 0.8);
  const margin = size * 0.1;
  for (let fine = 0; fine < size * fineness; fine++) {
    const y = ((fine + 0.5) / fineness - margin) * unit;
    for (const [from, to] of spansAt(y, outlines)) {
      const first = Math.max(0, Math.ceil((from / unit + margin) * fineness - 0.5));
      const last = Math.min(size * fineness, (to / unit + margin) * fineness - 0.5);
      for (let x = first; x < last; x++) {
        const at = Math.floor(fine / fineness) * size + Math.floor(x / fineness);
        cover[at] = (cover[at] ?? 0) + 1 / (fineness * fineness);
      }
    }
  }
  covered.set(shape, cover);
  return cover;
}

/** Segments of the line at height `y` inside an odd number of outlines. */
function spansAt(y: number, outlines: readonly (readonly Point[])[]): [from: number, to: number][] {
  const crossings: number[] = [];
  for (const outline of outlines)
    for (const [at, [x1, y1]] of outline.entries()) {
      const [x2, y2] = outline[(at + 1) % outline.length] ?? [x1, y1];
      if (y1 <= y === y2 <= y) continue;
      crossings.push(x1 + ((y - y1) / (y2 - y1)) * (x2 - x1));
    }
  crossings.sort((a, b) => a - b);
  const spans: [number, number][] = [];
  for (let at = 0; at + 1 < crossings.length; at += 2)
    spans.push([crossings[at] ?? 0, crossings[at + 1] ?? 0]);
  return spans;
}

const cornersOfCircle = 28;

function outlineOf(text: string): Point[] {
  const circle = /^o ([\d.]+),([\d.]+) ([\d.]+)$/.exec(text);
  if (!circle)
    return text.split(" ").map((pair) => {
      const [x = 0, y = 0] = pair.split(",").map(Number);
      return [x, y] as const;
    });
  const [x = 0, y = 0, radius = 0] = circle.slice(1).map(Number);
  return Array.from({ length: cornersOfCircle }, (_, at) => {
    const angle = (at / cornersOfCircle) * 2 * Math.PI;
    return [x + radius * Math.cos(angle), y + radius * Math.sin(angle)] as const;
  });
}

function colourOf(text: string): Colour {
  const value = Number.parseInt(text.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}
