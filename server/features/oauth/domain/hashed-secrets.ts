import { createHash } from "node:crypto";

interface Credentials {
  headers: Readonly<Record<string, string>>;
  body: Uint8Array | null;
}

/**
 * A request in which the secret of a client is replaced by its SHA-256. Only hashes are stored, and the library
 * compares the given text with the stored one. Headers and forms are rebuilt from the parsed values, so that the
 * library cannot find a secret that this function missed.
 */
export function withHashedSecret<R extends Credentials>(request: R): R {
  const { authorization } = request.headers;
  const headers =
    authorization === undefined
      ? request.headers
      : { ...request.headers, authorization: hashedHeader(authorization) };
  return { ...request, headers, body: request.body && hashedForm(request.body) };
}

/** Lower-case hexadecimal, as clients are stored; an absent secret stays absent. */
const hashOf = (secret: string): string =>
  secret === "" ? "" : createHash("sha256").update(secret).digest("hex");

/** Refused by the library as malformed. */
const malformed = "Basic";

function hashedHeader(header: string): string {
  if (!/^basic\b/i.test(header)) return header;
  const encoded = /^basic ([a-z\d+/]+=*)$/i.exec(header)?.[1] ?? "";
  const text = Buffer.from(encoded, "base64").toString("utf8");
  const at = text.indexOf(":");
  if (at < 0) return malformed;
  try {
    const secret = formDecoded(text.slice(at + 1));
    return `Basic ${Buffer.from(`${text.slice(0, at)}:${hashOf(secret)}`).toString("base64")}`;
  } catch {
    return malformed;
  }
}

/** Decodes id and secret, which are form-encoded (RFC 6749, 2.3.1); throws for a bad encoding. */
const formDecoded = (text: string): string => decodeURIComponent(text.replaceAll("+", "%20"));

function hashedForm(body: Uint8Array): Uint8Array {
  const form = new URLSearchParams(Buffer.from(body).toString("utf8"));
  const fields = [...form].map(([name, value]) => [
    name,
    name === "client_secret" ? hashOf(value) : value,
  ]);
  return Buffer.from(new URLSearchParams(fields).toString());
}
