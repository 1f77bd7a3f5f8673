import { AppError } from "../../platform/errors.ts";
import type { FormFile } from "./route.ts";

/** Bytes of a form besides its file (HTTP-04). */
export const maxFormFraming = 16_384;

const formType = /^multipart\/form-data\s*(?:;|$)/i;
const boundary = /;\s*boundary=(?:"([^"]+)"|([^\s;"]+))/i;

/** Throws `request:unsupported_media_type` unless a body is declared as a plain form. */
export function requireForm(headers: Readonly<Record<string, string>>): void {
  const encoding = headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  if (!formType.test(headers["content-type"] ?? "") || encoding !== "identity")
    throw new AppError("request:unsupported_media_type");
}

/** One field of a form. */
export interface FormPart {
  name: string;
  /** Present for a file. */
  filename?: string;
  data: ArrayBuffer;
}

/** uWebSockets reads only a bare boundary at the end of the header; clients quote it or add a charset. */
function partsOf(request: FormRequest, body: Uint8Array): readonly FormPart[] {
  const declared = request.headers["content-type"] ?? "";
  const [, quoted, bare] = boundary.exec(declared) ?? [];
  const name = quoted ?? bare;
  if (name === undefined) return [];
  return request.partsOf(body, `multipart/form-data; boundary=${name}`);
}

interface FormRequest {
  body: Uint8Array | null;
  readonly headers: Readonly<Record<string, string>>;
  partsOf(body: Uint8Array, contentType: string): readonly FormPart[];
}

/** Takes the files out of a form; none for a truncated body or one that is no form. */
export function takeFiles(request: FormRequest, maxFileBytes: number): FormFile[] {
  const { body } = request;
  request.body = null;
  if (body === null || body.length === 0) return [];
  return partsOf(request, body)
    .filter(({ filename }) => filename !== undefined)
    .map(({ name, data }) => {
      if (data.byteLength > maxFileBytes) throw new AppError("request:too_large");
      // The parts are views of the body; a copy lets the body be collected.
      return { field: name, bytes: Buffer.copyBytesFrom(new Uint8Array(data)) };
    });
}
