/** A response body; a list is one body in parts, which are never concatenated. */
export type Body = string | Uint8Array | readonly Uint8Array[];

/** A response in wire form, as a transport sends it. */
export interface Output {
  status: number;
  /** Value of the first header, `X-Request-Id`, followed by all others: `\r\nName: value`. */
  head: string;
  payload: Body | null;
}

/** Bytes of one write; a body up to this size is sent in one write. */
export const pieceBytes = 256 * 1024;

/** Bytes of a body. */
export function byteLength(body: Body | null): number {
  if (body === null) return 0;
  return isWhole(body) ? Buffer.byteLength(body) : lengthOf(body);
}

export const isWhole = (body: Body): body is string | Uint8Array => !Array.isArray(body);

export const lengthOf = (parts: readonly Uint8Array[]) =>
  parts.reduce((sum, { length }) => sum + length, 0);

/** A status whose responses have neither a body nor a length. */
export const isBare = (status: number) => status === 204 || status === 304;

export const isBodiless = (method: string, status: number) => isBare(status) || method === "HEAD";
