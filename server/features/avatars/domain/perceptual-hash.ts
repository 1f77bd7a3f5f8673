import { readBrightness } from "./images.ts";

/** The picture is scaled to this side; its lowest frequencies are the bits. */
const side = 32;
const waves = 8;
/** Standard deviation of brightness below which a picture has no recognizable detail. */
const leastDetail = 4;

/** Cosine of wave u at place x. */
const cosines = Array.from({ length: waves }, (_, u) =>
  Float64Array.from({ length: side }, (_, x) => Math.cos(((2 * x + 1) * u * Math.PI) / (2 * side))),
);

/**
 * Perceptual hash: 64 bits as text of zeros and ones, stable under scaling, compression and recoloring. Null for a
 * picture without detail, whose bits would be random.
 */
export async function perceptualHash(webp: Uint8Array): Promise<string | null> {
  const brightness = await readBrightness(webp, side);
  return deviation(brightness) < leastDetail ? null : bitsOf(waveStrengths(brightness));
}

function deviation(values: Uint8Array): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
}

/** The lowest 8 x 8 frequencies of a discrete cosine transform, row by row. */
function waveStrengths(brightness: Uint8Array): number[] {
  const rows = Array.from({ length: side }, (_, y) =>
    cosines.map((cosine) => weigh(cosine, (x) => brightness[y * side + x] ?? 0)),
  );
  return cosines.flatMap((cosine) =>
    cosines.map((_, u) => weigh(cosine, (y) => rows[y]?.[u] ?? 0)),
  );
}

function weigh(cosine: Float64Array, valueAt: (index: number) => number): number {
  return cosine.reduce((sum, factor, index) => sum + factor * valueAt(index), 0);
}

/** Each coefficient against the median; the first is the mean brightness and is skipped. */
function bitsOf(strengths: readonly number[]): string {
  const sorted = strengths.slice(1).toSorted((a, b) => a - b);
  const median = sorted[sorted.length >> 1] ?? 0;
  return strengths.map((strength, index) => (index > 0 && strength > median ? "1" : "0")).join("");
}
