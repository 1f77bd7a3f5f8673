import type { Metadata, Sharp, SharpOptions } from "sharp";
import { AppError } from "../../../platform/errors.ts";
import { createConcurrencyLimiter } from "../../../platform/tasks/concurrency-limiter.ts";

/** Sides of an accepted picture, in pixels (AV-04). */
export const minSide = 32;
export const maxSide = 4_096;
/** Bounds of the formats that are decoded whole. */
const maxWholeBytes = 5 * 1_048_576;
/** The decoders of these shrink while they read; the largest photo of a phone with 50 megapixels (AV-04). */
export const maxPhotoPixels = 8_192 * 6_144;
/** A JPEG in several scans is kept whole instead, two bytes a sample; one in CMYK has four samples a pixel. */
const maxScanSamples = 3 * maxPhotoPixels;
const photoTypes: ReadonlySet<string> = new Set(["image/jpeg", "image/webp"]);
/** Side of the stored picture. */
export const storedSide = 512;
/** Decode timeout by wall clock, for malicious pictures and a busy machine. */
const decodeSeconds = 10;
const quality = 82;

/** Detected from content, never from name or declared type; file-type reports animated PNG as its own type. */
const acceptedTypes: ReadonlySet<string> = new Set([
  "image/png",
  "image/apng",
  "image/jpeg",
  "image/webp",
  "image/gif",
  "image/avif",
]);
/** Enabled decoders; all others of the library are blocked (S20). */
const decoders = [
  "VipsForeignLoadPng",
  "VipsForeignLoadJpeg",
  "VipsForeignLoadWebp",
  "VipsForeignLoadNsgif",
  "VipsForeignLoadHeif",
];
const options: SharpOptions = {
  // Phones write JPEGs with decoder warnings that every browser shows; a truncated picture is an error.
  failOn: "error",
  sequentialRead: true,
  pages: 1,
};

interface Bounds {
  bytes: number;
  side: number;
  pixels: number;
}

const photoBounds: Bounds = { bytes: Infinity, side: Infinity, pixels: maxPhotoPixels };
const wholeBounds: Bounds = { bytes: maxWholeBytes, side: maxSide, pixels: maxSide * maxSide };

type Open = (bytes: Uint8Array, options?: SharpOptions) => Sharp;
let loading: Promise<Open> | null = null;

/** Loaded with the first picture; it decodes each picture in its own thread. */
function loadSharp(): Promise<Open> {
  loading ??= import("sharp").then(({ default: sharp }) => {
    sharp.cache(false);
    sharp.concurrency(1);
    sharp.block({ operation: ["VipsForeignLoad"] });
    sharp.unblock({ operation: decoders });
    return sharp;
  });
  return loading;
}

/** Concurrent decodes of a process, and queued ones: each picture takes some MiB. */
const decodeLimiter = createConcurrencyLimiter({ running: 2, waiting: 16 });

/**
 * Stored form of an upload: 512 x 512 WebP, center crop, upright, without metadata. Throws `avatar:image_invalid`
 * with the broken rule unless it is a valid picture within the limits (AV-04, S20).
 */
export function normalizePicture(bytes: Uint8Array): Promise<Buffer> {
  return decodeLimiter.run(async () => {
    const { fileTypeFromBuffer } = await import("file-type");
    const type = await fileTypeFromBuffer(bytes).catch(() => undefined);
    if (type === undefined || !acceptedTypes.has(type.mime)) throw invalid("format");
    const bounds = photoTypes.has(type.mime) ? photoBounds : wholeBounds;
    if (bytes.length > bounds.bytes) throw invalid("bytes", { max_bytes: bounds.bytes });
    try {
      return await decode(bytes, options, bounds).catch((error: unknown) => {
        if (type.mime !== "image/jpeg" || !isEarlyEnd(error)) throw error;
        // Some cameras omit the end marker; with it added, the picture must be complete.
        const whole = Buffer.concat([bytes, endOfJpeg]);
        return decode(whole, { ...options, failOn: "warning" }, bounds);
      });
    } catch (error) {
      throw error instanceof AppError ? error : refusalOf(error);
    }
  });
}

const endOfJpeg = Buffer.from([0xff, 0xd9]);
const isEarlyEnd = (error: unknown) =>
  error instanceof Error && error.message.includes("premature end of JPEG image");

async function decode(bytes: Uint8Array, given: SharpOptions, bounds: Bounds): Promise<Buffer> {
  const open = await loadSharp();
  // The head alone is read here; the library's own bound does not say which rule was broken.
  const head = await open(bytes, { ...given, limitInputPixels: false }).metadata();
  const { width, height, pageHeight = height } = head;
  const pixels = Math.min(bounds.pixels, maxScanPixels(head));
  const isWithin = (side: number) => side >= minSide && side <= bounds.side;
  if (!isWithin(width) || !isWithin(pageHeight) || width * pageHeight > pixels)
    throw invalid("pixels", pixelParams({ ...bounds, pixels }));
  return open(bytes, { ...given, limitInputPixels: bounds.pixels })
    .autoOrient()
    .resize(storedSide, storedSide, { fit: "cover" })
    .webp({ quality })
    .timeout({ seconds: decodeSeconds })
    .toBuffer();
}

/** Maps a failure of the library to a refusal: only a timeout may be retried. */
export function refusalOf(cause: unknown): AppError {
  const isTooSlow = cause instanceof Error && cause.message.startsWith("timeout:");
  return isTooSlow
    ? new AppError("server:unavailable", { params: { retry_after: decodeSeconds }, cause })
    : invalid("damaged", {}, cause);
}

const maxScanPixels = ({ format, isProgressive, channels }: Metadata): number =>
  format === "jpeg" && isProgressive ? Math.floor(maxScanSamples / channels) : Infinity;

/** Which rule an upload breaks; a client shows it to the sender. */
type Rule = "format" | "bytes" | "pixels" | "damaged" | "one_file";

export const invalid = (rule: Rule, more: Record<string, number> = {}, cause?: unknown) =>
  new AppError("avatar:image_invalid", { params: { rule, ...more }, cause });

const pixelParams = ({ side, pixels }: Bounds) => ({
  min_side: minSide,
  ...(side === Infinity ? {} : { max_side: side }),
  max_pixels: pixels,
});

/** Red, green and blue of every pixel of a stored picture, scaled to a square. */
export async function readPixels(webp: Uint8Array, side: number): Promise<Buffer> {
  const open = await loadSharp();
  return scaled(open(webp), side).removeAlpha().toColourspace("srgb").raw().toBuffer();
}

/** Brightness of every pixel of a stored picture, scaled to a square. */
export async function readBrightness(webp: Uint8Array, side: number): Promise<Buffer> {
  const open = await loadSharp();
  return scaled(open(webp), side).greyscale().extractChannel(0).raw().toBuffer();
}

/** Transparent pixels are blended with grey. */
const scaled = (picture: Sharp, side: number): Sharp =>
  picture.flatten({ background: "#808080" }).resize(side, side, { fit: "fill" });
