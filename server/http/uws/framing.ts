import { AppError } from "../../platform/errors.ts";

type RequestHeaders = Readonly<Record<string, string>>;

const lengthPattern = /^\d{1,15}$/;
const hostPattern = /^(?:[A-Za-z0-9._~!$&'()*+;=%-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;
const tokenPattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const closePattern = /(?:^|[\s,])close(?:[\s,]|$)/i;

/** Methods without a body, whose connections stay open; other methods without a length close theirs. */
const bodilessMethods = new Set(["GET", "HEAD"]);
const common = new Set([...bodilessMethods, "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Cache of the last valid Host header, which most requests repeat. */
let knownHost = "";

/**
 * Guard against request smuggling: framing that a proxy may parse differently, such as two lengths, a length beside
 * a transfer coding, an unknown coding, no host or several. Such a request is refused and its connection closed.
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
 * True when the response must close the connection, because the next bytes may not be the next request:
 * - uWebSockets misreads extensions, trailers and line ends of chunks, and shows none of them;
 * - it hides the headers after one without a name, so a request without a length may have had one, and its body would
 *   be parsed as a request; GET and HEAD are exempt, since a connection for each would be too expensive;
 * - the client sent `Connection: close`.
 */
export function isLastRequest(method: string, headers: RequestHeaders): boolean {
  if (headers["transfer-encoding"] !== undefined) return true;
  if (headers["content-length"] === undefined && !bodilessMethods.has(method)) return true;
  const connection = headers["connection"];
  if (connection === undefined || connection === "keep-alive") return false;
  return closePattern.test(connection);
}

export function hasBody(headers: RequestHeaders): boolean {
  const length = headers["content-length"];
  return headers["transfer-encoding"] !== undefined || (length !== undefined && Number(length) > 0);
}

const malformed = (header: string) => new AppError("request:malformed_url", { params: { header } });
