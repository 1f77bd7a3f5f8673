import { AppError } from "../../platform/errors.ts";
import { withoutMark } from "../../platform/text/text-file.ts";
import { isNestedDeeper, parseExactly } from "../../platform/text/exact-json.ts";

/** Bytes of a JSON request body (HTTP-04). */
export const maxBodyBytes = 65_536;
/** Nesting depth of objects and arrays, the outermost included (HTTP-03). */
export const maxBodyDepth = 32;

const jsonType = /^application\/(?:[a-z0-9!#$&^_.-]+\+)?json$/;
const urlFormType = "application/x-www-form-urlencoded";
const formTypes = new Set([urlFormType, "multipart/form-data", "text/plain"]);

/** Media types a browser sends across origins without a preflight (HTTP-11). */
export function isFormType(contentType: string | undefined): boolean {
  if (contentType === undefined) return false;
  const type = mediaTypeOf(contentType);
  return formTypes.has(type) || type.startsWith("text/");
}

/** True for a form without files. */
export const isUrlForm = (headers: Readonly<Record<string, string>>): boolean =>
  mediaTypeOf(headers["content-type"] ?? "") === urlFormType;

/** The fields of a URL-encoded form. Throws `request:malformed_json` for invalid UTF-8. */
export function readForm(body: Uint8Array | null): URLSearchParams {
  const text = body === null ? "" : textOf(body);
  if (text === null) throw new AppError("request:malformed_json");
  return new URLSearchParams(text);
}

function mediaTypeOf(contentType: string): string {
  return contentType.split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

function isUtf8Charset(contentType: string): boolean {
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)"?/i.exec(contentType)?.[1]?.toLowerCase();
  return charset === undefined || charset === "utf-8" || charset === "utf8";
}

/** Throws `request:unsupported_media_type` unless the body is declared as plain JSON (S18). */
export function requireJson(headers: Readonly<Record<string, string>>): void {
  const type = headers["content-type"];
  if (type === "application/json" && headers["content-encoding"] === undefined) return;
  const encoding = headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  const isJson = type !== undefined && jsonType.test(mediaTypeOf(type)) && isUtf8Charset(type);
  if (!isJson || encoding !== "identity") throw new AppError("request:unsupported_media_type");
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The text of a body; null for invalid UTF-8. */
export function textOf(bytes: ArrayBuffer | Uint8Array): string | null {
  try {
    return utf8.decode(bytes);
  } catch {
    return null;
  }
}

/** The JSON object in `body`; an empty one is `{}`. Throws `request:malformed_json` otherwise. */
export function parseJsonObject(body: Uint8Array | string | null): Record<string, unknown> {
  if (body === null || body.length === 0) return {};
  const marked = typeof body === "string" ? body : textOf(body);
  const text = marked === null ? null : withoutMark(marked);
  if (text === "") return {};
  if (text === null || isNestedDeeper(text, maxBodyDepth))
    throw new AppError("request:malformed_json");
  const value = parse(text);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new AppError("request:malformed_json");
  return value as Record<string, unknown>;
}

function parse(text: string): unknown {
  try {
    return parseExactly(text);
  } catch (cause) {
    throw new AppError("request:malformed_json", { cause });
  }
}
