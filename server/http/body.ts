import { AppError } from "../core/errors.ts";

/** Bytes of a JSON request body (HTTP-04). */
export const maxBodyBytes = 65_536;
/** Objects and arrays inside each other, the outermost included (HTTP-03). */
export const maxBodyDepth = 32;

const jsonType = /^application\/(?:[a-z0-9!#$&^_.-]+\+)?json$/;
const formTypes = new Set([
  "application/x-www-form-urlencoded",
  "multipart/form-data",
  "text/plain",
]);

/** What a browser can send across origins without asking first (HTTP-11). */
export function isFormType(contentType: string | undefined): boolean {
  if (contentType === undefined) return false;
  const type = mediaTypeOf(contentType);
  return formTypes.has(type) || type.startsWith("text/");
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

/** The text of a body; null when its bytes are none. */
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
  const text = typeof body === "string" ? body : textOf(body);
  if (text === null || isTooDeep(text)) throw new AppError("request:malformed_json");
  const value = parse(text);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new AppError("request:malformed_json");
  return value as Record<string, unknown>;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new AppError("request:malformed_json", { cause });
  }
}

/** JSON.parse takes a million nested arrays; what comes after it does not. */
function isTooDeep(text: string): boolean {
  if (text.length <= maxBodyDepth) return false;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x22) i = endOfString(text, i);
    else if (code === 0x5b || code === 0x7b) {
      depth += 1;
      if (depth > maxBodyDepth) return true;
    } else if (code === 0x5d || code === 0x7d) depth -= 1;
  }
  return false;
}

function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x5c) i += 1;
    else if (code === 0x22) return i;
  }
  return text.length;
}
