import { readAsset } from "../../../db/queries/archive/codex-assets.ts";
import type { Archive, ArchiveBody } from "./domain/archive.ts";
import { AppError } from "../../platform/errors.ts";
import { bytesReply, type Headers, type RequestInfo } from "../../http/pipeline/route.ts";

const hashPattern = /^[0-9a-f]{64}$/;
/** Extension by media type; only these are shown by a browser, all others are saved (COD-19). */
const shown = new Map([
  ["image/png", "png"],
  ["image/webp", "webp"],
  ["image/jpeg", "jpg"],
  ["image/avif", "avif"],
  ["audio/ogg", "ogg"],
  ["audio/mpeg", "mp3"],
  ["audio/wav", "wav"],
]);

/** The original bytes, whatever size or format the request names. */
export async function serveAsset(archive: Archive, hash: string, request: RequestInfo) {
  if (!hashPattern.test(hash)) throw new AppError("codex:asset_not_found");
  const asset = await archive.bodies.fetch(`asset ${hash}`, () => loadAsset(archive, hash));
  const mediaType = asset.type ?? "application/octet-stream";
  const content = toBytes(asset.content);
  const disposition = shown.has(mediaType) ? "inline" : "attachment";
  const { etag } = asset;
  const headers: Headers = [
    ["ETag", etag],
    ["Accept-Ranges", "bytes"],
    ["Content-Disposition", `${disposition}; filename=${hash}.${extensionOf(mediaType)}`],
  ];
  const range = request.method === "GET" ? wantedRange(request, etag) : null;
  if (range === null) return bytesReply(200, mediaType, content, headers);
  const [first, last] = resolveRange(range, content.length);
  headers.push(["Content-Range", `bytes ${first}-${last}/${content.length}`]);
  return bytesReply(206, mediaType, content.subarray(first, last + 1), headers);
}

async function loadAsset(archive: Archive, hash: string): Promise<ArchiveBody> {
  const asset = await readAsset(archive.fork(), hash);
  if (asset === null) throw new AppError("codex:asset_not_found");
  return { content: asset.content, etag: `"${hash}"`, type: asset.mediaType };
}

const toBytes = (content: string | Buffer) =>
  typeof content === "string" ? Buffer.from(content) : content;

function extensionOf(mediaType: string): string {
  const own = mediaType.split("/")[1]?.split("+")[0] ?? "";
  return shown.get(mediaType) ?? (/^[a-z0-9]{1,8}$/.test(own) ? own : "bin");
}

type Range = [first: number | null, last: number | null];

/** One byte range; several ranges, other units and invalid headers are ignored. */
function wantedRange({ headers }: RequestInfo, etag: string): Range | null {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(headers["range"] ?? "");
  if (match === null || (headers["if-range"] ?? etag) !== etag) return null;
  // A client with the current asset gets a 304, not a range.
  if (headers["if-none-match"] !== undefined) return null;
  const [first, last] = match.slice(1).map((text) => (text === "" ? null : Number(text)));
  if ((first ?? null) === null && (last ?? null) === null) return null;
  if (first != null && last != null && last < first) return null;
  return [first ?? null, last ?? null];
}

function resolveRange([first, last]: Range, length: number): [number, number] {
  const from = first ?? Math.max(0, length - (last ?? 0));
  const to = first === null ? length - 1 : Math.min(last ?? length - 1, length - 1);
  if (from < length && from <= to) return [from, to];
  throw new AppError("request:range_unsatisfiable", {
    headers: [["Content-Range", `bytes */${length}`]],
  });
}
