import { AppError } from "../../platform/errors.ts";

type RequestHeaders = Readonly<Record<string, string>>;

const lengthPattern = /^\d{1,15}$/;
const hostPattern = /^(?:[A-Za-z0-9._~!$&'()*+;=%-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;
const tokenPattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const closePattern = /(?:^|[\s,])close(?:[\s,]|$)/i;

/** Methods whose requests come without a length, one after the other; the next connection of others costs little. */
const withoutLength = new Set(["GET", "HEAD"]);
const common = new Set([...withoutLength, "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Most requests call us by the same name. */
let knownHost = "";

/**
 * What a proxy in front of us may read differently than we do: two lengths, a length beside a transfer
 * coding, a coding we do not know, no host or several. Such a request is refused and its connection closed.
 */
export function framingProblem(method: string, headers: RequestHeaders): AppError | null {
  if (!common.has(method) && !tokenPattern.test(method)) return malformed("method");
  const length = headers["content-length"];
  const coding = headers["transfer-encoding"];
  if (coding !== undefined && (length !== undefined || coding.trim().toLowerCase() !== "chunked"))
    return malformed("Transfer-Encoding");
  if (length !== undefined && !lengthPattern.test(length)) return malformed("Content-Length");
  const host = headers["host"];
  if (host === knownHost) return null;
  if (host === undefined || !hostPattern.test(host)) return malformed("Host");
  knownHost = host;
  return null;
}

/**
 * Whether the connection has to end with the answer, because its next bytes may not be the next request:
 * - uWebSockets misreads extensions, trailers and line ends of chunks, and shows none of them;
 * - it hides the headers behind one without a name, so what has no length may have had one, and its body
 *   would be read as a request; GET and HEAD alone are too many to be asked for a connection each;
 * - the client said that it sends nothing more.
 */
export function isLastRequest(method: string, headers: RequestHeaders): boolean {
  if (headers["transfer-encoding"] !== undefined) return true;
  if (headers["content-length"] === undefined && !withoutLength.has(method)) return true;
  const connection = headers["connection"];
  if (connection === undefined || connection === "keep-alive") return false;
  return closePattern.test(connection);
}

export function hasBody(headers: RequestHeaders): boolean {
  const length = headers["content-length"];
  return headers["transfer-encoding"] !== undefined || (length !== undefined && Number(length) > 0);
}

const malformed = (header: string) => new AppError("request:malformed_url", { params: { header } });
